#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/results/cleared_map.h"
#include "engine/results/map_entries.h"
#include "engine/results/running_program.h"

namespace gpufs {

// What a program's maps hold. Keys of one file path are the same, though the map of paths may have
// several for it. Elements of arrays that are all zero are left out. Empty for rings,
// stacks and maps that the program does not have. In no order.
class MapReader {
public:
    // Borrows the program.
    explicit MapReader(const RunningProgram& running) : running_(running) {}

    MapEntries read(std::string_view name);
    // What the programs had written when they turned away from it (RunningProgram::turn()), and
    // empties it: nothing is lost.
    MapEntries take(std::string_view name);
    // Empties the map. Arrays of counts, sums and histograms lose no update: their old contents
    // are remembered and subtracted from later ones. A bucket's old extreme may remain, which is
    // less than the bucket's width away. Other maps may lose updates made meanwhile.
    void clear(std::string_view name);

    // For the end of a run, when no program writes to the maps any more: full_maps() goes by what
    // read() found, and does not read again.
    void keep() {
        keeps_ = true;
        places_.clear();
    }

    // Hash maps that are full, or were when they were taken or cleared: keys may have been refused.
    std::vector<std::string> full_maps();

private:
    struct Contents {
        MapEntries entries;
        std::size_t places = 0;  // how many of the kernel's entries they were
        // Of an array that is taken: the keys of the elements that are not zero.
        std::vector<std::vector<std::byte>> elements;
    };
    enum class Taking { no, yes };
    Contents contents(const MapDeclaration& declared, ProgramMap& map, Taking taking) const;
    MapEntries take_out(const MapDeclaration& declared, ProgramMap& map);
    void read_histograms(const MapDeclaration& declared, std::span<const std::byte> key,
                         std::span<const std::byte> value,
                         std::map<std::vector<std::byte>, std::size_t>& places,
                         MapEntries& entries) const;
    // What is in the map now.
    Contents current(const MapDeclaration& declared, ProgramMap& map);
    void unite_file_paths(const MapDeclaration& declared, MapEntries& entries) const;

    const RunningProgram& running_;
    std::map<std::string, ClearedMap, std::less<>> cleared_;  // arrays, by name
    std::set<std::string> full_when_taken_;
    bool keeps_ = false;
    std::map<std::string, std::size_t, std::less<>> places_;  // by map, of the last reading
};

// Whether a map of this type has keys with values: not a ring, nor one of stacks.
bool holds_entries(std::uint32_t type);

// No byte is anything else.
bool is_zero(std::span<const std::byte> bytes);
// A kernel's or a user's: an id in a stack_trace map.
bool is_stack(const ValueType& type);

// The words of a value in the kernel, with their extremes as numbers.
std::vector<std::uint64_t> decoded_words(const Aggregation& how, std::span<const std::byte> value);
// Adds one CPU's words to those of the others, which are as many; all are 0 before the first.
void merge_words(const Aggregation& how, std::span<const std::uint64_t> from,
                 std::span<std::uint64_t> into);

// Adds another histogram's buckets.
void merge_buckets(const Aggregation& how, std::span<const HistogramBucket> from,
                   std::vector<HistogramBucket>& into);

// How many values went into the words: of sums, minima and maxima only whether there is one.
std::uint64_t count_of(const Aggregation& how, std::span<const std::uint64_t> words);

// The mean of an avg, stats or histogram, towards 0; as a word, that has its sign. 0 where there is
// no value.
std::uint64_t mean_of(const Aggregation& how, std::span<const std::uint64_t> words);

// What was counted for stacks that found their place in the stack map taken by another (their id is
// -EEXIST).
std::uint64_t count_stack_collisions(const MapDeclaration& declared, const MapEntries& entries);

}  // namespace gpufs
