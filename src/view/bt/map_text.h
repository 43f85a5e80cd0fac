#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/printable.h"
#include "bt/types/compiled.h"
#include "view/bt/value_text.h"

namespace gpufs::bt {

// An element of the kernel's map that is behind a script's map: of all CPUs together, and of a
// hist, lhist or tseries one slot.
struct MapElement {
    Bytes key, value;
};

// What such a slot belongs to: the script's key, empty of a scalar.
struct SlotKey {
    Bytes key;
    std::uint32_t slot = 0;
};
SlotKey slot_key_of(const ScriptMap& map, Bytes element_key);

// What print(@m, top, div) asks for, and what the end of a run, which has defaults.
struct MapPart {
    std::size_t top = 0;    // only the last so many, in their order; 0: all
    std::uint64_t div = 0;  // what numbers are divided by; 0: nothing. An lhist's are not.
    // A map without keys and without an element, but of slots, shows a value of zeros.
    bool zero_if_empty = false;
    // In front of the map's name, with a dot: of a script beside other programs. Empty: none.
    std::string program = {};
    Controls controls = Controls::escaped;  // of the texts in keys and values; not in JSON
};

// Appends a map as it is printed at exit and by print(@m): in ascending order of what was counted
// or accumulated, and of integers; a tseries by its last interval; other values in the order of
// their keys. Slots come in any order. Nothing for a map without elements.
void append_map(std::string& out, const ScriptMap& map, std::span<const MapElement> elements,
                const ValueWriter& writer, MapPart part = {});
// The same as a line of JSON.
void append_map_json(std::string& out, const ScriptMap& map, std::span<const MapElement> elements,
                     const ValueWriter& writer, MapPart part = {});

}  // namespace gpufs::bt
