#pragma once

#include <cstdint>

// What the files of helpers share.
namespace gpufs {

struct VmState;

// Maps, rings and stacks.
void add_map_helpers(VmState& world);

// What a program sees of a number that may be negative.
inline std::uint64_t from_status(int status) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(status));
}

}  // namespace gpufs
