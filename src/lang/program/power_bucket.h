#pragma once

#include <bit>
#include <cstdint>

namespace gpufs {

// The bucket that a value is in, of a histogram of log2 or log_linear (Aggregation), unsigned:
// values below 2^bits have one each, every power of two above has 2^bits.
constexpr std::uint32_t power_bucket(unsigned bits, std::uint64_t value) {
    const std::uint64_t each = std::uint64_t{1} << bits;
    if (value < each) return static_cast<std::uint32_t>(value);
    const auto power = static_cast<std::uint64_t>(std::bit_width(value)) - 1 - bits;
    return static_cast<std::uint32_t>(power * each + (value >> power));
}

}  // namespace gpufs
