#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpufs {

// The bytes of a section of an ELF file, read piece by piece: a large one takes no memory. One that
// the file has compressed is held unpacked.
class SectionBytes {
public:
    SectionBytes() noexcept = default;
    // Borrows the descriptor.
    SectionBytes(int file, std::uint64_t offset, std::uint64_t size) noexcept
        : file_(file), offset_(offset), size_(size) {}
    explicit SectionBytes(std::string unpacked)
        : size_(unpacked.size()), unpacked_(std::move(unpacked)) {}

    std::uint64_t size() const noexcept { return size_; }
    // `n` bytes from `at` on, less where the section ends or the file cannot be read; good as long
    // as `scratch` is not touched.
    std::string_view read(std::uint64_t at, std::size_t n, std::string& scratch) const;
    // What begins there, up to its NUL; at most 64 KiB.
    std::string text(std::uint64_t at) const;

private:
    int file_ = -1;
    std::uint64_t offset_ = 0, size_ = 0;
    std::string unpacked_;
};

}  // namespace gpufs
