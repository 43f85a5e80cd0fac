#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace gpufs {

// Writes a right-aligned number, like "%5lu" and "%06lu"; returns the end of the text. `to` must
// have enough room.
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

// Nanoseconds as seconds, rounded to microseconds: "  123.456789".
inline char* put_seconds(char* to, std::uint64_t ns) {
    const std::uint64_t us = (ns + 500) / 1000;
    to = put_padded(to, us / 1'000'000, 5, ' ');
    *to++ = '.';
    return put_padded(to, us % 1'000'000, 6, '0');
}

}  // namespace gpufs
