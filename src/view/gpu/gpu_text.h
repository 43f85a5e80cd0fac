#pragma once

#include <cstddef>
#include <string>

#include "kernel/host/gpus.h"

namespace gpufs {

// A GPU in a line: "card0: amdgpu, AMD Navi 21 1002:73bf, at 0000:03:00.0, renderD128, open in 2
// processes". `holders`: how many processes have it open.
std::string gpu_text(const Gpu& gpu, std::size_t holders);

// The same as an object of gpufs-json(5).
std::string gpu_json(const Gpu& gpu, std::size_t holders);

// What the kernel's common events cannot show of it, a line; empty if that depends on its driver's
// version only. NVIDIA's driver has a scheduler of its own.
std::string gpu_note(const Gpu& gpu);

}  // namespace gpufs
