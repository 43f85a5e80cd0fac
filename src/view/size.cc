#include "view/size.h"

#include <string_view>

#include "base/cat.h"

namespace gpufs {

std::string size_text(std::uint64_t bytes) {
    constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) return cat(bytes, " B");
    std::size_t unit = 0;
    std::uint64_t tenths = bytes / 1024 * 10 + bytes % 1024 * 10 / 1024;
    for (; tenths >= 10'240; tenths /= 1024) ++unit;
    return cat(tenths / 10, '.', tenths % 10, ' ', kUnits[unit]);
}

}  // namespace gpufs
