#pragma once

#include <string>
#include <vector>

#include "engine/places/kernel_facts.h"

namespace gpufs::bt {

// What this kernel can do for scripts, in the sections and words of `bpftrace --info`: "  btf:
// yes". Each is tried, not derived from the kernel's version.
std::vector<std::string> kernel_info(KernelFacts& facts);

}  // namespace gpufs::bt
