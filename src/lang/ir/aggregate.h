#pragma once

#include <string>

#include "lang/ir/ir.h"
#include "lang/program/program.h"

namespace gpufs {

// Code that adds to the aggregations of maps: one look-up a hit, and an add in place.
//
// What is exact. Every add is atomic, in per-CPU maps too: there nobody shares the cache line, so
// it costs a few nanoseconds, and it holds where a program is interrupted between its load and its
// store by another one on the same CPU (an interrupt's tracepoint, a sample's NMI). min, max and
// stats exchange their extremes by compare-and-exchange (Linux 5.12). A key that the map has no
// room for is counted as a loss.

// Declares the map and what belongs to it. For hash maps: "NAME_refused", which counts the hits
// whose key found no room, and "NAME_zero", what a new key begins with. A map without key members
// gets a u32, as arrays have; one without value members a number. Throws std::logic_error for min,
// max and stats in arrays and per-CPU maps: their extremes are exact only where an entry is born
// with its first value, and once for all CPUs.
void declare_aggregation(Program& program, MapDeclaration map);

// Adds a value of 64 bits, which a count does not look at, to the entry of the key: map.key.bytes
// bytes on the stack, of which every one has a value. `is_signed` says what the value is; log2 and
// log_linear put what is less than 0 into slot 0.
void append_aggregation(ir::Code& code, const MapDeclaration& map, ir::Slot key,
                        const ir::Operand& value, bool is_signed);

// A counter of losses, as `.lost NAME "WHAT"` declares it, and code that adds one to it.
void declare_loss(Program& program, std::string name, std::string what);
void append_loss(ir::Code& code, const std::string& name);

}  // namespace gpufs
