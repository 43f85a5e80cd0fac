#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/dwarf/info.h"

namespace gpufs {

// What an address of a unit's code is in: the unit's root, the function, blocks and inlined
// functions in it, from the outside inwards.
std::vector<DwarfEntry> scopes_at(const DwarfEntry& root, std::uint64_t address);
// The innermost function of them, which may be inlined; the one whose frame it uses. Absent if
// there is none.
DwarfEntry innermost_function(const std::vector<DwarfEntry>& scopes);
DwarfEntry frame_function(const std::vector<DwarfEntry>& scopes);

// The root of the unit of the source that the innermost function is written in. Compilers that
// optimize a whole program (-flto) put its code into a unit of their own. Absent without scopes.
DwarfEntry source_unit(const std::vector<DwarfEntry>& scopes);

// A variable or parameter that code may name.
struct VisibleVariable {
    DwarfEntry entry;
    DwarfEntry scope;  // the block or function that has it; the root for what the unit has
    bool is_parameter() const;
};
// Those of the innermost function: inner blocks first, without what an inner one hides.
std::vector<VisibleVariable> local_variables(const std::vector<DwarfEntry>& scopes);
// A variable of the unit, by its name: "count", "ns::count". Absent if it has none with a place or
// a value; one that is only declared comes last.
DwarfEntry unit_variable(const DwarfEntry& root, std::string_view name);

// A function as C++ writes it, with its namespaces and classes: "ns::Class::method".
std::string qualified_name(const DwarfEntry& entry);

// Calls visit(function) for each function of a unit that has code of its own, and for each place at
// which one was inlined.
void for_each_function(const DwarfEntry& root, const std::function<void(const DwarfEntry&)>& visit);
// The address at which a function or an inlined place of it begins.
std::optional<std::uint64_t> entry_address(const DwarfEntry& function);

}  // namespace gpufs
