#include "bt/types/typed.h"

#include <algorithm>

namespace gpufs::bt {

TypedMap* Typed::find_map(const std::string& name) {
    const auto found = std::ranges::find(maps, name, &TypedMap::name);
    return found == maps.end() ? nullptr : &*found;
}

const TypedMap* Typed::find_map(const std::string& name) const {
    return const_cast<Typed*>(this)->find_map(name);
}

}  // namespace gpufs::bt
