#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace gpufs {

// The first whose member `name` is this; null if there is none.
template <class T>
const T* find_by_name(const std::vector<T>& items, std::string_view name) {
    const auto it = std::ranges::find(items, name, &T::name);
    return it == items.end() ? nullptr : &*it;
}

}  // namespace gpufs
