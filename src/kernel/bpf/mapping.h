#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace gpufs {

// Owns pages shared with the kernel through mmap(2).
class Mapping {
public:
    Mapping() noexcept = default;
    // `protection`: PROT_READ, PROT_WRITE. Throws SysError, with `what` in its message.
    Mapping(int fd, std::size_t bytes, int protection, off_t offset, const char* what);
    // The first bytes of a file, to be read only. Absent where it cannot be mapped so.
    static std::optional<Mapping> of_file(int fd, std::size_t bytes) noexcept;
    Mapping(Mapping&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    Mapping& operator=(Mapping other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Mapping();

    std::byte* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    std::span<std::byte> bytes() const noexcept { return {data_, size_}; }

private:
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

std::size_t page_bytes();

}  // namespace gpufs
