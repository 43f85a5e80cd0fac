#pragma once

#include <string>
#include <vector>

#include "engine/gpu/usage.h"
#include "view/columns.h"

namespace gpufs {

// Who uses a GPU, the busiest process first: what part of each engine's capacity it kept busy, and
// the memory that its buffers take in each region. A last row has the sums, if there are several.
//
//   card0 (amdgpu) by process
//   COMM      PID    GFX  COMPUTE       VRAM      GTT
//   glxgears  512  62.5%     0.0%  120.0 MiB  4.0 MiB
//
// Engines that worked for nobody and regions where nobody has memory have no column. Empty if
// nobody has the GPU open.
std::string usage_text(const Gpu& gpu, const GpuUse& use, const Screen& screen = {});

// The same as an object of gpufs-json(5), with all that the driver told.
std::string usage_json(const Gpu& gpu, const GpuUse& use);

}  // namespace gpufs
