#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/results/running_program.h"

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

// What a program's maps hold. Elements of arrays that are all zero are left out. Empty for rings,
// stacks and maps that the program does not have. In no order.
class MapReader {
public:
    // Borrows the program.
    explicit MapReader(const RunningProgram& running) : running_(running) {}

    std::vector<MapEntry> read(std::string_view name);
    // What came since it was taken last, or all; from then on only what comes is there. No update
    // is lost in arrays of counts, sums and histograms, whose old contents are remembered, and not
    // taken out. In hash maps an update in the moment between reading an entry and removing it may
    // be.
    std::vector<MapEntry> take(std::string_view name);

    // For the end of a run: from now on each map is read from the kernel once, when its contents
    // are first requested.
    void keep() { keeps_ = true; }

    // Hash maps that are full, or were when they were taken: keys may have been refused.
    std::vector<std::string> full_maps();

private:
    std::vector<MapEntry> contents(const MapDeclaration& declared, ProgramMap& map, bool take);
    std::vector<MapEntry> current(const MapDeclaration& declared, ProgramMap& map);
    void subtract_taken(const MapDeclaration& declared, std::vector<MapEntry>& entries) const;

    const RunningProgram& running_;
    // Of arrays: what was taken by name.
    std::map<std::string, std::vector<MapEntry>, std::less<>> taken_;
    std::set<std::string> full_when_taken_;
    bool keeps_ = false;
    std::map<std::string, std::vector<MapEntry>, std::less<>> kept_;  // by map
};

// No byte is anything else.
bool is_zero(std::span<const std::byte> bytes);
// A kernel's or a user's: an id in a stack_trace map.
bool is_stack(const ValueType& type);

// Adds one CPU's words to those of the others.
void merge_words(const Aggregation& how, const std::vector<std::uint64_t>& from,
                 std::vector<std::uint64_t>& into);

// How many values went into the words: of sums, minima and maxima only whether there is one.
std::uint64_t count_of(const Aggregation& how, const std::vector<std::uint64_t>& words);

// The mean of an avg or stats, towards 0; as a word, that has its sign. 0 where there is no value.
std::uint64_t mean_of(const Aggregation& how, const std::vector<std::uint64_t>& words);

// What was counted for stacks that found their place in the stack map taken by another (their id is
// -EEXIST).
std::uint64_t count_stack_collisions(const MapDeclaration& declared,
                                     const std::vector<MapEntry>& entries);

}  // namespace gpufs
