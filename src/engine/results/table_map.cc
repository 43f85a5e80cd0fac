#include "engine/results/table_map.h"

#include <algorithm>

#include "base/bytes.h"

namespace gpufs {

std::size_t TableMap::whole_value_bytes() const {
    return entries_.empty() ? 0 : entries_.begin()->second.size();
}

bool TableMap::lookup(std::span<const std::byte> key, std::span<std::byte> value) const {
    const auto found = entries_.find(copy_of(key));
    if (found == entries_.end()) return false;
    std::copy_n(found->second.begin(), std::min(value.size(), found->second.size()), value.begin());
    return true;
}

void TableMap::update(std::span<const std::byte> key, std::span<const std::byte> value) {
    entries_[copy_of(key)] = copy_of(value);
}

void TableMap::for_each(const Visit& visit) const {
    for (const auto& [key, value] : entries_) visit(key, value);
}

void TableMap::take_each(const Visit& visit) {
    for_each(visit);
    clear();
}

}  // namespace gpufs
