#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpufs {

// The bytes of an ELF section, read in pieces so that a large one takes no memory. A compressed
// section is held decompressed.
class SectionBytes {
public:
    SectionBytes() noexcept = default;
    // `file` must stay open while this object is used.
    SectionBytes(int file, std::uint64_t offset, std::uint64_t size) noexcept
        : file_(file), offset_(offset), size_(size) {}
    explicit SectionBytes(std::string unpacked)
        : size_(unpacked.size()), unpacked_(std::move(unpacked)) {}

    std::uint64_t size() const noexcept { return size_; }
    // Up to `n` bytes from offset `at`, fewer at the section's end or if the file cannot be read.
    // Valid until `scratch` changes.
    std::string_view read(std::uint64_t at, std::size_t n, std::string& scratch) const;
    // The NUL-terminated string at this offset; at most 64 KiB.
    std::string text(std::uint64_t at) const;

private:
    int file_ = -1;
    std::uint64_t offset_ = 0, size_ = 0;
    std::string unpacked_;
};

}  // namespace gpufs
