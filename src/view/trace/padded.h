#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace gpufs {

// Writes right-aligned, as "%5lu" and "%06lu" do; returns the end. For lines that are put together
// in one piece.
inline char* put_padded(char* to, std::uint64_t value, std::size_t width, char fill) {
    char digits[20];
    char* at = digits + sizeof digits;
    do {
        *--at = static_cast<char>('0' + value % 10);
        value /= 10;
    } while (value != 0);
    const auto length = static_cast<std::size_t>(digits + sizeof digits - at);
    for (std::size_t i = length; i < width; ++i) *to++ = fill;
    return std::copy(at, digits + sizeof digits, to);
}

// "  123.456789", seconds of nanoseconds, rounded.
inline char* put_seconds(char* to, std::uint64_t ns) {
    const std::uint64_t us = (ns + 500) / 1000;
    to = put_padded(to, us / 1'000'000, 5, ' ');
    *to++ = '.';
    return put_padded(to, us % 1'000'000, 6, '0');
}

}  // namespace gpufs
