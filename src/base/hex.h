#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpufs {

inline constexpr std::string_view kHexDigits = "0123456789abcdef";

// "0x1f"; zeros in front of fewer than `digits`.
std::string hex(std::uint64_t number, std::size_t digits = 1);

// The two digits of a byte: "1f".
inline void append_hex_byte(std::string& out, unsigned byte, std::string_view digits = kHexDigits) {
    out += digits[byte >> 4 & 15];
    out += digits[byte & 15];
}

// 0 to 15; -1 for what is no digit.
constexpr int hex_digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace gpufs
