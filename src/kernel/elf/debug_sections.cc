#include "kernel/elf/debug_sections.h"

#include <zstd.h>

#include <cstring>

#include "base/cat.h"
#include "base/error.h"
#include "base/path.h"
#include "kernel/elf/debug_file.h"

namespace gpufs {
namespace {

constexpr std::uint64_t kLargestSection = std::uint64_t{4} << 30;
// As much as real ones may be packed; zlib's format cannot do more than 1032.
constexpr std::uint64_t kMostPacked = 1032;
constexpr unsigned kZstd = 2;  // ELFCOMPRESS_ZSTD, which older libelf does not know

std::string unpack_zstd(std::string_view packed, std::uint64_t bytes) {
    std::string unpacked(bytes, '\0');
    const std::size_t made =
        ZSTD_decompress(unpacked.data(), unpacked.size(), packed.data(), packed.size());
    if (ZSTD_isError(made) || made != bytes) unpacked.clear();
    return unpacked;
}

}  // namespace

std::string unpacked_bytes(const ElfFile::Section& section, std::uint64_t most) {
    GElf_Chdr header;
    const std::string_view stored = section_bytes(section);
    const std::uint64_t largest = std::min(most, kMostPacked * stored.size());
    if (section.header.sh_flags & SHF_COMPRESSED) {
        if (!gelf_getchdr(section.handle, &header)) {
            // libelf refuses a type it does not know.
            Elf64_Chdr wide;
            if (stored.size() < sizeof wide) return {};
            std::memcpy(&wide, stored.data(), sizeof wide);
            if (wide.ch_type != kZstd || wide.ch_size > largest) return {};
            return unpack_zstd(stored.substr(sizeof wide), wide.ch_size);
        }
        if (header.ch_size > largest) return {};
        if (header.ch_type == kZstd && stored.size() > sizeof(Elf64_Chdr))
            return unpack_zstd(stored.substr(sizeof(Elf64_Chdr)), header.ch_size);
        if (elf_compress(section.handle, 0, 0) < 0) return {};
    } else if (section.name.starts_with(".zdebug") && elf_compress_gnu(section.handle, 0, 0) < 0) {
        return {};
    }
    const Elf_Data* data = elf_getdata(section.handle, nullptr);
    if (!data || !data->d_buf) return {};
    return {static_cast<const char*>(data->d_buf), data->d_size};
}

std::optional<ElfFile::Section> find_section(const ElfFile& file, std::string_view name) {
    const auto is_named = [&](std::string_view section) {
        return section == name || (section.starts_with(".z") && name.starts_with('.') &&
                                   section.substr(2) == name.substr(1));
    };
    std::optional<ElfFile::Section> found;
    file.for_each_section([&](const ElfFile::Section& section) {
        if (is_named(section.name) && section.header.sh_type != SHT_NOBITS) found = section;
        return !found;
    });
    return found;
}

bool is_packed(const ElfFile::Section& section) {
    return (section.header.sh_flags & SHF_COMPRESSED) || section.name.starts_with(".zdebug");
}

std::string_view DebugSections::bytes(std::string_view name) {
    const auto known = unpacked_.find(name);
    if (known != unpacked_.end()) return known->second;
    const auto section = find_section(*file_, name);
    if (!section) return {};
    if (!is_packed(*section)) return section_bytes(*section);
    return unpacked_.emplace(name, unpacked_bytes(*section, kLargestSection)).first->second;
}

bool DebugSections::has(std::string_view name) const {
    return find_section(*file_, name).has_value();
}

std::uint64_t DebugSections::address(std::string_view name) const {
    std::uint64_t found = 0;
    file_->for_each_section([&](const ElfFile::Section& section) {
        if (section.name == name) found = section.header.sh_addr;
        return found == 0;
    });
    return found;
}

std::unique_ptr<DebugSections> open_debug_sections(const std::string& path) {
    auto own = std::make_unique<DebugSections>(std::make_unique<ElfFile>(path));
    if (own->has(".debug_info")) return own;
    const std::string directory = parent_directory(real_path(path).value_or(path));
    auto debug = open_debug_file(own->file(), directory, RootDirectory());
    if (!debug) return nullptr;
    auto separate = std::make_unique<DebugSections>(std::move(debug));
    return separate->has(".debug_info") ? std::move(separate) : nullptr;
}

std::unique_ptr<DebugSections> try_debug_sections(const std::string& path) {
    try {
        return std::make_unique<DebugSections>(std::make_unique<ElfFile>(path));
    } catch (const Error&) {
        return nullptr;
    }
}

std::unique_ptr<DebugSections> open_shared_sections(DebugSections& of) {
    // A path, and the build id of the file there.
    const std::string_view link = of.bytes(".gnu_debugaltlink");
    const auto end = link.find('\0');
    if (end == link.npos) return nullptr;
    const std::string id(link.substr(end + 1));
    if (id.size() < 2) return nullptr;
    const std::string beside = path_from(parent_directory(of.file().path()), link.substr(0, end));
    for (const std::string& path : {build_id_path(id), beside}) {
        auto file = try_debug_sections(path);
        if (file && file->file().build_id() == id) return file;
    }
    return nullptr;
}

}  // namespace gpufs
