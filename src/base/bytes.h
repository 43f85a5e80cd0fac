#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace gpufs {

// The bytes of a value, as maps of the kernel have their keys and values. It must live on.
template <class T>
requires std::is_trivially_copyable_v<T> std::span<const std::byte> bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}

inline std::vector<std::byte> copy_of(std::span<const std::byte> bytes) {
    return {bytes.begin(), bytes.end()};
}

inline std::string_view chars_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A text in a place of a fixed size, as the kernel and files have names: its end is the first NUL
// or, where there is none, that of the place.
inline std::string_view up_to_nul(std::string_view place) {
    return place.substr(0, place.find('\0'));
}
inline std::string_view up_to_nul(std::span<const std::byte> place) {
    return up_to_nul(chars_of(place));
}
template <std::size_t N>
std::string_view up_to_nul(const std::array<char, N>& place) {
    return up_to_nul(std::string_view(place.data(), N));
}

}  // namespace gpufs
