#include "base/sorted.h"

#include <numeric>

namespace gpufs {

std::vector<std::uint32_t> sorted_numbers(std::size_t count, LessNumber less, const void* context) {
    std::vector<std::uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0u);
    std::ranges::stable_sort(numbers,
                             [&](std::uint32_t a, std::uint32_t b) { return less(context, a, b); });
    return numbers;
}

}  // namespace gpufs
