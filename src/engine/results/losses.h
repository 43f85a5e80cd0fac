#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/results/map_contents.h"
#include "engine/results/running_program.h"

namespace gpufs {

// Something that is missing in a result, and how often.
struct Loss {
    std::string what;  // "records, a ring was full"
    std::uint64_t count = 0;
};

// All that is known to be missing in what a program tells.
struct Losses {
    std::vector<Loss> parts;  // also those that count 0
    // The program has counters of its own: what only it can know is in `parts`. Otherwise it is
    // guessed.
    bool counts_itself = false;
    // Where it does not: hash maps that are full. Keys that came later were refused, nobody knows
    // how many.
    std::vector<std::string> full_maps;

    std::uint64_t total() const;
    bool is_complete() const { return total() == 0 && full_maps.empty(); }
};

// `known`: what whoever read the records and ran the programs missed. Adds what the program's own
// `.lost` counters say now. Waits for nothing.
Losses read_losses(std::vector<Loss> known, const RunningProgram& running, const MapReader& maps);

// What maps with a `tally` hold now; no losses.
std::vector<Loss> read_tallies(const RunningProgram& running, MapReader& maps);

}  // namespace gpufs
