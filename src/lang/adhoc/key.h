#pragma once

#include <span>

#include "base/diagnostics.h"
#include "lang/adhoc/value.h"

namespace gpufs {

// A key of several events: its members are what the names stand for at each of them.

// Texts and raw bytes begin at multiples of 8, so that they can be written in words.
void add_member(Layout& layout, std::string name, ValueType type);

// One member: what it stands for, at which events. Several where it is named differently at some.
struct KeyMeaning {
    AdhocWord name;
    std::span<const AdhocEvent> events;
};
using KeyColumn = std::vector<KeyMeaning>;
// Each name is a member, at all of the events.
std::vector<KeyColumn> key_columns(std::span<const AdhocWord> names,
                                   std::span<const AdhocEvent> events);

// The layout that has room for the values at all events, its members named as the first meaning;
// numbers take the widest type. Complains of names that an event does not know, of values of
// different nature, and of keys longer than `max_bytes`.
Layout key_layout(std::span<const KeyColumn> columns, std::size_t max_bytes,
                  const std::vector<SourceText>& sources, Diagnostics& mistakes);

// The names, and in front of a user stack the process that it is of, without which its addresses
// mean nothing.
std::vector<AdhocWord> with_process(std::vector<AdhocWord> names,
                                    std::span<const AdhocEvent> events);

// Writes the values of the names at one event into a slot of layout.bytes; every byte of it gets a
// value.
void append_key(ir::Code& code, AdhocValueCode& values, const AdhocEvent& event,
                std::span<const AdhocWord> names, const Layout& layout, ir::Slot slot);

}  // namespace gpufs
