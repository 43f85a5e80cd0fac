#pragma once

#include <algorithm>

namespace gpufs {

// Sorts a container and leaves one of each value.
template <class Container>
void sort_unique(Container& all) {
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
}

}  // namespace gpufs
