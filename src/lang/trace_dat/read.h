#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/error.h"

namespace gpufs::trace_dat {

// The data ends before a complete value.
class Truncated : public Error {
public:
    explicit Truncated(std::uint64_t at) : Error(cat("the data ends at byte ", at)), at_(at) {}
    std::uint64_t at() const noexcept { return at_; }

private:
    std::uint64_t at_;
};

// Reads bytes: fills `into` from offset `at` on, and returns the number of bytes, fewer only at the
// end.
using Source = std::function<std::size_t(std::uint64_t at, std::span<char> into)>;
// A source that reads from `bytes`.
Source in_memory(std::string bytes);

// Reads values sequentially. All readers throw Truncated when the data ends early.
class Cursor {
public:
    explicit Cursor(Source source, std::uint64_t at = 0) : source_(std::move(source)), at_(at) {}

    std::uint64_t at() const noexcept { return at_; }
    std::uint16_t u16() { return number<std::uint16_t>(); }
    std::uint32_t u32() { return number<std::uint32_t>(); }
    std::uint64_t u64() { return number<std::uint64_t>(); }
    // A text up to its NUL, which is consumed. Throws Error if longer than 64 KiB.
    std::string text();
    // Throws Error if more than 256 MiB.
    std::string bytes(std::uint64_t n);
    void skip(std::uint64_t n) { at_ += n; }

private:
    template <class T>
    T number();
    std::span<const char> look(std::size_t n);

    Source source_;
    std::uint64_t at_;
    std::string held_;
    std::uint64_t held_at_ = 0;
};

}  // namespace gpufs::trace_dat
