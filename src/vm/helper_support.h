#pragma once

#include <cstdint>

// Declarations shared by helpers_common.cc and helpers_maps.cc.
namespace gpufs {

struct VmState;

// Adds the helpers for maps, rings and stacks.
void add_map_helpers(VmState& world);

// Sign-extends a helper's result, which may be a negative errno.
inline std::uint64_t from_status(int status) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(status));
}

}  // namespace gpufs
