#pragma once

#include <optional>
#include <string_view>

#include "base/symbol.h"

namespace gpufs {

// What the kernel's "%pS" prints: "vfs_read+0x12/0x3f0", "drm_ioctl+0x5/0x80 [drm]". nullopt for
// anything else, as an address without a symbol: "0xffffffffc0000000". The symbol borrows `text`.
std::optional<Symbol> parse_symbol_text(std::string_view text);

}  // namespace gpufs
