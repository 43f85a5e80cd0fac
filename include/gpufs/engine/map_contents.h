#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "gpufs/engine/monitor.h"

namespace gpufs {

// One entry of a map, all CPUs together.
struct MapEntry {
    std::vector<std::byte> key;
    // An aggregation's words, as Aggregation says: added up, or the least, or the most.
    std::vector<std::uint64_t> words;
    // Of a map that keeps data: one value, or one a CPU.
    std::vector<std::vector<std::byte>> values;

    bool operator==(const MapEntry&) const = default;
};

// What a map holds now; elements of arrays that are all zero are left out. Most first for
// aggregations (by the first word), else in the kernel's order. Empty for rings, stacks and maps
// that the monitor does not have.
std::vector<MapEntry> read_map(const Monitor& monitor, std::string_view name);

// Adds one CPU's words to those of the others.
void merge_words(const Aggregation& how, const std::vector<std::uint64_t>& from,
                 std::vector<std::uint64_t>& into);

}  // namespace gpufs
