#pragma once

#include <cstdint>
#include <limits>

namespace gpufs {

// a + b; the largest number where the sum does not fit.
constexpr std::uint64_t add_saturating(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    return b > kMost - a ? kMost : a + b;
}

// a - b; 0 where b is more.
constexpr std::uint64_t subtract_saturating(std::uint64_t a, std::uint64_t b) {
    return a > b ? a - b : 0;
}

}  // namespace gpufs
