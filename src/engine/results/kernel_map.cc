#include "engine/results/kernel_map.h"

#include <cstring>

namespace gpufs {

std::vector<std::int32_t> KernelMap::stack_ids() const {
    std::vector<std::int32_t> ids;
    map_.for_each_key([&](std::span<const std::byte> key) {
        std::int32_t id = 0;
        std::memcpy(&id, key.data(), sizeof id);
        ids.push_back(id);
    });
    return ids;
}

}  // namespace gpufs
