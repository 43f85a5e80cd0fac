#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace gpufs {

// What programs know of a file, the value of a map of file paths (ValueType::Kind::file_path), and
// its path as text.

struct FilePathLayout {
    static constexpr std::size_t kNameBytes = 256;  // of one name: NAME_MAX and its NUL
    static constexpr std::size_t kPathBytes = 256;  // no name is added behind so many

    static constexpr std::size_t kInodeAt = 0;    // u64: the number of the file's inode
    static constexpr std::size_t kMagicAt = 8;    // u64: super_block.s_magic
    static constexpr std::size_t kLengthAt = 16;  // u32: how many bytes of names there are
    static constexpr std::size_t kFlagsAt = 20;   // u32
    static constexpr std::size_t kNamesAt = 24;   // from the file up, each with its NUL
    static constexpr std::size_t kBytes = kNamesAt + kPathBytes + kNameBytes;

    enum Flags : std::uint32_t {
        removed = 1,     // it has no name any more
        unattached = 2,  // it never was in a directory: a pipe, a memfd
        cut = 4,         // directories are missing at the front
    };
};

// As a link in /proc/PID/fd says it: "/usr/lib/libc.so.6", "pipe:[4026]", "socket:[7123]",
// "anon_inode:[eventfd]", "/tmp/x (deleted)". A path that was cut begins with "...". Empty for
// bytes of another size.
std::string file_path_text(std::span<const std::byte> value);

}  // namespace gpufs
