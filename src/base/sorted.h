#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace gpufs {

// Sorts a container and leaves one of each value.
template <class Container>
void sort_unique(Container& all) {
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
}

// The numbers below `count` in their order: less(context, a, b). Equal ones stay in order.
using LessNumber = bool (*)(const void* context, std::uint32_t a, std::uint32_t b);
std::vector<std::uint32_t> sorted_numbers(std::size_t count, LessNumber less, const void* context);

// As std::ranges::stable_sort(), of a vector of less than 2^32 values. All types share the
// algorithm: each type's own would be 3 kB of code.
template <class T, class Less = std::ranges::less, class Key = std::identity>
void sort_stably(std::vector<T>& all, Less less = {}, Key key = {}) {
    const auto is_less = [&](std::uint32_t a, std::uint32_t b) -> bool {
        return std::invoke(less, std::invoke(key, all[a]), std::invoke(key, all[b]));
    };
    using IsLess = decltype(is_less);
    const std::vector<std::uint32_t> order = sorted_numbers(
        all.size(),
        [](const void* context, std::uint32_t a, std::uint32_t b) {
            return (*static_cast<const IsLess*>(context))(a, b);
        },
        &is_less);
    std::vector<T> sorted;
    sorted.reserve(all.size());
    for (const std::uint32_t number : order) sorted.push_back(std::move(all[number]));
    all = std::move(sorted);
}

}  // namespace gpufs
