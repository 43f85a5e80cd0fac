#include "kernel/elf/debug_file.h"

#include <sys/stat.h>
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/path.h"
#include "base/read_at.h"
#include "base/text.h"
#include "kernel/host/debug_folders.h"

namespace gpufs {
namespace {

constexpr const char* kDebugRoot = "/usr/lib/debug";

// The checksum of .gnu_debuglink: CRC-32 as in zlib, of the whole debug file.
std::uint32_t checksum_of(const ElfFile& file) {
    uLong crc = ::crc32(0, nullptr, 0);
    std::vector<unsigned char> chunk(64 << 10);
    for (std::uint64_t at = 0;;) {
        const std::size_t n =
            read_at(file.fd(), at, std::as_writable_bytes(std::span(chunk)), file.path());
        if (n == 0) return static_cast<std::uint32_t>(crc);
        crc = ::crc32(crc, chunk.data(), static_cast<uInt>(n));
        at += n;
    }
}

// .gnu_debuglink: a name, padding to a multiple of 4, a checksum in the file's byte order.
struct DebugLink {
    std::string name;
    std::uint32_t crc = 0;
};
std::optional<DebugLink> debug_link(const ElfFile& file) {
    std::optional<DebugLink> link;
    file.for_each_section([&](const ElfFile::Section& section) {
        if (section.name != ".gnu_debuglink") return true;
        const std::string_view bytes = section_bytes(section);
        const std::string_view name = up_to_nul(bytes);
        const std::size_t at = (name.size() + 4) & ~std::size_t{3};
        if (!name.empty() && bytes.size() >= at + 4) {
            link = DebugLink{std::string(name), 0};
            std::memcpy(&link->crc, bytes.data() + at, sizeof link->crc);
        }
        return false;
    });
    return link;
}

// Opens a candidate. Null if it does not exist, is not ELF or does not match; never an error.
std::unique_ptr<ElfFile> open_if(const RootDirectory& root, const std::string& path,
                                 const auto& is_right) {
    Fd fd = root.open(path);
    if (!fd) return nullptr;
    try {
        auto file = std::make_unique<ElfFile>(std::move(fd), path);
        return is_right(*file) ? std::move(file) : nullptr;
    } catch (const Error&) {
        return nullptr;
    }
}

std::string path_by_id(std::string_view folder, const std::string& id) {
    std::string hex;
    for (const char c : id) append_hex_byte(hex, static_cast<unsigned char>(c));
    return cat(folder, "/.build-id/", hex.substr(0, 2), '/', hex.substr(2), ".debug");
}

// Is it of the program with this build id and link?
bool is_debug_of(const ElfFile& file, const std::string& id, const std::optional<DebugLink>& link) {
    const std::string other = file.build_id();
    if (!id.empty() && !other.empty()) return id == other;
    return link && checksum_of(file) == link->crc;
}

// In the folders that the user names: whoever names them trusts them.
std::unique_ptr<ElfFile> open_in_folders(const ElfFile& of, const std::string& directory,
                                         const std::string& id,
                                         const std::optional<DebugLink>& link) {
    const char* const folders = std::getenv(kDebugFoldersVariable);
    if (!folders) return nullptr;
    const std::string name = link ? link->name : cat(file_name(of.path()), ".debug");
    const auto is_right = [&](const ElfFile& file) { return is_debug_of(file, id, link); };
    for (const std::string& given : split(folders, ':')) {
        if (given.empty()) continue;
        for (const std::string& folder : {given, path_from(directory, given)}) {
            std::vector<std::string> places{cat(folder, '/', name),
                                            cat(folder, '/', directory, '/', name)};
            if (!id.empty()) places.insert(places.begin(), path_by_id(folder, id));
            for (const std::string& place : places)
                if (auto file = open_if(RootDirectory(), place, is_right)) return file;
        }
    }
    return nullptr;
}

}  // namespace

std::string build_id_path(const std::string& id) {
    return path_by_id(kDebugRoot, id);
}

std::unique_ptr<ElfFile> open_debug_file(const ElfFile& of, const std::string& directory,
                                         const RootDirectory& root) {
    const std::string id = of.build_id();
    const auto link = debug_link(of);
    if (auto file = open_in_folders(of, directory, id, link)) return file;
    if (!id.empty()) {
        const auto has_id = [&](const ElfFile& f) { return f.build_id() == id; };
        const std::string path = build_id_path(id);
        if (auto file = open_if(root, path, has_id)) return file;
        if (!root.is_own())
            if (auto file = open_if(RootDirectory(), path, has_id)) return file;
    }
    if (!link) return nullptr;
    struct stat program;
    if (::fstat(of.fd(), &program) != 0) return nullptr;
    const auto is_right = [&](const ElfFile& f) {
        return is_only_from(f.fd(), program.st_uid) && is_debug_of(f, id, link);
    };
    for (const std::string& place :
         {cat(directory, '/', link->name), cat(directory, "/.debug/", link->name),
          cat(kDebugRoot, directory, '/', link->name)})
        if (auto file = open_if(root, place, is_right)) return file;
    return nullptr;
}

}  // namespace gpufs
