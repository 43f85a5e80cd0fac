#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace gpufs {

// The first whose member `name` is this; null if there is none.
template <class T>
const T* find_by_name(const std::vector<T>& items, std::string_view name) {
    const auto it = std::ranges::find(items, name, &T::name);
    return it == items.end() ? nullptr : &*it;
}

// The same, which is added at the end if there is none.
template <class T>
T& find_or_add_by_name(std::vector<T>& items, std::string_view name) {
    const auto it = std::ranges::find(items, name, &T::name);
    if (it != items.end()) return *it;
    T item;
    item.name = name;
    return items.emplace_back(std::move(item));
}

}  // namespace gpufs
