#include "kernel/elf/debug_file.h"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "base/error.h"

namespace gpufs {
namespace {

constexpr const char* kDebugRoot = "/usr/lib/debug";

// The checksum of .gnu_debuglink: CRC-32 as in zlib, of the whole debug file.
std::uint32_t crc32(const ElfFile& file) {
    static const auto table = [] {
        std::array<std::uint32_t, 256> made{};
        for (std::uint32_t i = 0; i < made.size(); ++i) {
            std::uint32_t c = i;
            for (int bit = 0; bit < 8; ++bit) c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
            made[i] = c;
        }
        return made;
    }();
    std::uint32_t crc = ~std::uint32_t{0};
    std::array<unsigned char, 64 << 10> chunk;
    off_t at = 0;
    for (;;) {
        const ssize_t n = check(::pread(file.fd(), chunk.data(), chunk.size(), at),
                                [&] { return cat("read '", file.path(), "'"); });
        if (n == 0) return ~crc;
        at += n;
        for (const unsigned char byte : std::span(chunk).first(static_cast<std::size_t>(n)))
            crc = table[(crc ^ byte) & 0xff] ^ crc >> 8;
    }
}

// "/usr/lib/debug/.build-id/ab/cdef.debug"
std::string build_id_path(const std::string& id) {
    std::string hex;
    for (const char c : id) {
        const auto byte = static_cast<unsigned char>(c);
        hex += "0123456789abcdef"[byte >> 4];
        hex += "0123456789abcdef"[byte & 15];
    }
    return cat(kDebugRoot, "/.build-id/", hex.substr(0, 2), '/', hex.substr(2), ".debug");
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
        const std::string_view name = bytes.substr(0, bytes.find('\0'));
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
    const auto is_right = [&](const ElfFile& f) {
        const std::string other = f.build_id();
        if (!id.empty() && !other.empty()) return id == other;
        return crc32(f) == link->crc;
    };
    for (const std::string& place :
         {cat(directory, '/', link->name), cat(directory, "/.debug/", link->name),
          cat(kDebugRoot, directory, '/', link->name)})
        if (auto file = open_if(root, place, is_right)) return file;
    return nullptr;
}

}  // namespace gpufs
