#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/results/map_contents.h"
#include "engine/results/running_program.h"

namespace gpufs {

// A kind of loss and its count.
struct Loss {
    std::string what;  // "records, a ring was full"
    std::uint64_t count = 0;
};

// All known losses of a program's results.
struct Losses {
    std::vector<Loss> parts;  // including those with count 0
    // Whether the program has its own loss counters, which are then in `parts`. Otherwise they are
    // only guessed, from full_maps.
    bool counts_itself = false;
    // Full hash maps of a program without counters. They refused an unknown number of keys.
    std::vector<std::string> full_maps;

    std::uint64_t total() const;
    bool is_complete() const { return total() == 0 && full_maps.empty(); }
};

// `known`: losses that the reader and the loader have counted. Adds the current values of the
// program's own `.lost` counters. Never blocks.
Losses read_losses(std::vector<Loss> known, const RunningProgram& running, MapReader& maps);

// The current values of maps with a `tally`, which are no losses.
std::vector<Loss> read_tallies(const RunningProgram& running, MapReader& maps);

}  // namespace gpufs
