#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "lang/dwarf/info.h"
#include "lang/dwarf/lines.h"

namespace gpufs {

// The addresses of the code of an entry: a unit, a function, a block. In its order, empty for what
// has no code. Those of a unit are written in the program's file where the unit is in a split one.
std::vector<CodeSpan> code_of(const DwarfEntry& entry);
bool has_code_at(const DwarfEntry& entry, std::uint64_t address);

// A location expression, and the addresses at which it holds.
struct DwarfLocation {
    CodeSpan code;
    std::string_view expression;
};
// What an attribute says of where something is: one location for all addresses, or those of a list.
// The default of a list comes last. Empty if it is neither.
std::vector<DwarfLocation> locations_of(const DwarfAttribute& attribute);
// The one that holds at an address; absent: there the variable is nowhere.
std::optional<std::string_view> location_at(const DwarfAttribute& attribute, std::uint64_t address);

}  // namespace gpufs
