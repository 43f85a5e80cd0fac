#pragma once

#include <span>

#include "base/diagnostics.h"
#include "lang/adhoc/value.h"

namespace gpufs {

// Keys for several events: each event computes the members from its own fields.

// Aligns texts and raw bytes to 8, so that they can be written in 8-byte words.
void add_member(Layout& layout, std::string name, ValueType type);

// The meaning of a member at some events. A column has several if its name differs between events.
struct KeyMeaning {
    AdhocWord name;
    std::span<const AdhocEvent> events;
};
using KeyColumn = std::vector<KeyMeaning>;
// Each name becomes a column for all events.
std::vector<KeyColumn> key_columns(std::span<const AdhocWord> names,
                                   std::span<const AdhocEvent> events);

// A layout that fits the values of all events; members are named after the first meaning, and
// numbers take the widest type. Adds mistakes for unknown names, for values of different kinds, and
// for keys longer than `max_bytes`.
Layout key_layout(std::span<const KeyColumn> columns, std::size_t max_bytes,
                  const std::vector<SourceText>& sources, Diagnostics& mistakes);

// The names, with the process inserted before a user stack, because its addresses are meaningless
// without the process.
std::vector<AdhocWord> with_process(std::vector<AdhocWord> names,
                                    std::span<const AdhocEvent> events);

// Generates code that writes the values of the names at one event into a slot of layout.bytes;
// initializes every byte of it.
void append_key(ir::Code& code, AdhocValueCode& values, const AdhocEvent& event,
                std::span<const AdhocWord> names, const Layout& layout, ir::Slot slot);

}  // namespace gpufs
