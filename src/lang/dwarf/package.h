#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "lang/dwarf/info.h"

namespace gpufs {

// What the split file with this id has in a package (.dwp) of many: its parts of the package's
// sections, by the package's .debug_cu_index. Absent if it is not in it.
std::optional<DwarfSections> find_in_package(const DwarfSections& package, std::string_view index,
                                             std::uint64_t id);

}  // namespace gpufs
