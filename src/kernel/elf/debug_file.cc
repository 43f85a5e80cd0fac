#include "kernel/elf/debug_file.h"

#include <sys/stat.h>
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/read_at.h"

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

}  // namespace

std::string build_id_path(const std::string& id) {
    std::string hex;
    for (const char c : id) append_hex_byte(hex, static_cast<unsigned char>(c));
    return cat(kDebugRoot, "/.build-id/", hex.substr(0, 2), '/', hex.substr(2), ".debug");
}

std::unique_ptr<ElfFile> open_debug_file(const ElfFile& of, const std::string& directory,
                                         const RootDirectory& root) {
    const std::string id = of.build_id();
    if (!id.empty()) {
        const auto has_id = [&](const ElfFile& f) { return f.build_id() == id; };
        const std::string path = build_id_path(id);
        if (auto file = open_if(root, path, has_id)) return file;
        if (!root.is_own())
            if (auto file = open_if(RootDirectory(), path, has_id)) return file;
    }
    const auto link = debug_link(of);
    if (!link) return nullptr;
    struct stat program;
    if (::fstat(of.fd(), &program) != 0) return nullptr;
    const auto is_right = [&](const ElfFile& f) {
        if (!is_only_from(f.fd(), program.st_uid)) return false;
        const std::string other = f.build_id();
        if (!id.empty() && !other.empty()) return id == other;
        return checksum_of(f) == link->crc;
    };
    for (const std::string& place :
         {cat(directory, '/', link->name), cat(directory, "/.debug/", link->name),
          cat(kDebugRoot, directory, '/', link->name)})
        if (auto file = open_if(root, place, is_right)) return file;
    return nullptr;
}

}  // namespace gpufs
