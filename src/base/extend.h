#pragma once

#include <cstddef>
#include <cstdint>

namespace gpufs {

// The low bytes of a value, 1 to 8 of them, as 64 bits: with their sign, or with zeros in front.
constexpr std::uint64_t extend(std::uint64_t value, std::size_t bytes, bool is_signed) {
    const std::size_t unused = 64 - 8 * bytes;
    value <<= unused;
    return is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value) >> unused)
                     : value >> unused;
}

}  // namespace gpufs
