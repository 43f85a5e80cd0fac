#pragma once

#include <span>

#include "base/diagnostics.h"
#include "lang/adhoc/value.h"

namespace gpufs {

// Keys for several events: each event computes the members from its own fields.

// Aligns texts and raw bytes to 8, so that they can be written in 8-byte words.
void add_member(Layout& layout, std::string name, ValueType type);

// What a member is called at some events.
struct KeyMeaning {
    AdhocWord name;
    std::span<const AdhocEvent> events;
};
// A member, with several meanings if events call it differently.
struct KeyColumn {
    AdhocWord name;
    std::vector<KeyMeaning> meanings;
};
// Each name becomes a column for all events.
std::vector<KeyColumn> key_columns(std::span<const AdhocWord> names,
                                   std::span<const AdhocEvent> events);

// A layout that fits the values of all events; numbers take the widest type. Adds mistakes for
// unknown names, for values of different kinds, and for keys longer than `max_bytes`.
Layout key_layout(std::span<const KeyColumn> columns, std::size_t max_bytes,
                  const std::vector<SourceText>& sources, Diagnostics& mistakes);

// The names, with the process inserted before a user stack, because its addresses are meaningless
// without the process.
std::vector<AdhocWord> with_process(std::vector<AdhocWord> names,
                                    std::span<const AdhocEvent> events);

// Generates code that writes zeros between and behind the members of a layout that begins at
// `base`, a multiple of 8, of the slot.
void append_padding(ir::Code& code, const Layout& layout, ir::Slot slot, std::size_t base = 0);
// Generates code that writes the values of the names at one event into the members.
void append_values(AdhocValueCode& values, const AdhocEvent& event,
                   std::span<const AdhocWord> names, const Layout& layout, ir::Slot slot,
                   std::size_t base = 0);

}  // namespace gpufs
