#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace gpufs {

inline void append(std::string& out, std::string_view text) {
    out += text;
}
inline void append(std::string& out, char c) {
    out += c;
}
template <std::integral T>
void append(std::string& out, T number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    out.append(digits, end);
}

// Concatenates text, characters and integers (in decimal).
template <class... Ts>
std::string cat(const Ts&... parts) {
    std::string out;
    (append(out, parts), ...);
    return out;
}

}  // namespace gpufs
