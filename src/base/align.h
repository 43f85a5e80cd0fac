#pragma once

#include <cstddef>

namespace gpufs {

// The least multiple of `to` that is not less than `n`. `to` is not 0.
constexpr std::size_t align_up(std::size_t n, std::size_t to) {
    return (n + to - 1) / to * to;
}

}  // namespace gpufs
