#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/loss.h"
#include "engine/results/map_contents.h"
#include "engine/results/running_program.h"

namespace gpufs {

// Whether the program has its own loss counters. Otherwise keys that a map refused can only be
// guessed.
bool counts_losses(const Program& program);

// Adds to the losses that the reader and the loader have counted the current values of the
// program's own `.lost` counters. If it has none, its full hash maps may have refused keys. Never
// blocks.
LossLedger read_losses(LossLedger losses, const RunningProgram& running, MapReader& maps);

// A number that is told at the end and is no loss: "starts without an end".
struct Tally {
    std::string what;
    std::uint64_t count = 0;
};
// The current values of maps with a `tally`.
std::vector<Tally> read_tallies(const RunningProgram& running, MapReader& maps);

}  // namespace gpufs
