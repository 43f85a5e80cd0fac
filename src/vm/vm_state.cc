#include "vm/vm_state.h"

namespace gpufs {
namespace {

// Not a valid address, like those of VmMemory.
constexpr std::uint64_t kHandleBase = 0x4bf1'0000'0000'0000;

}  // namespace

int VmState::add_map(const BpfMapSpec& spec) {
    maps.push_back(std::make_unique<InterpretedMap>(spec, cpus, memory));
    return static_cast<int>(maps.size() - 1);
}

std::uint64_t VmState::handle_of(int map) {
    return kHandleBase + static_cast<std::uint32_t>(map);
}

InterpretedMap* VmState::find_map(std::uint64_t handle) const {
    const std::uint64_t number = handle - kHandleBase;
    return number < maps.size() ? maps[number].get() : nullptr;
}

}  // namespace gpufs
