#pragma once

#include <cstddef>
#include <span>
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

}  // namespace gpufs
