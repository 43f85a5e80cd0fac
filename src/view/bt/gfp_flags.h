#pragma once

#include <cstdint>
#include <string>

namespace gpufs::bt {

// The kernel's flags of an allocation (gfp_t) as its events name them: "GFP_KERNEL|__GFP_ZERO".
// Numbers are those of <linux/gfp_types.h>, the same since 4.20; later ones follow them.
std::string gfp_text(std::uint64_t flags);

}  // namespace gpufs::bt
