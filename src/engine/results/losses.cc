#include "engine/results/losses.h"

#include <algorithm>
#include <cstring>

namespace gpufs {
namespace {

// The value of a one-element map that counts a loss.
std::uint64_t counted_in(const ProgramMap& map) {
    const std::uint32_t zero = 0;
    std::uint64_t count = 0;
    map.lookup(std::as_bytes(std::span(&zero, 1)), std::as_writable_bytes(std::span(&count, 1)));
    return count;
}

bool holds_something(const MapEntry& entry) {
    return !std::ranges::all_of(entry.values, is_zero);
}

}  // namespace

std::uint64_t Losses::total() const {
    std::uint64_t all = 0;
    for (const Loss& part : parts) all += part.count;
    return all;
}

Losses read_losses(std::vector<Loss> known, const RunningProgram& running, MapReader& maps) {
    Losses losses;
    losses.parts = std::move(known);
    for (const MapDeclaration& map : running.program().maps) {
        if (map.loss.empty()) continue;
        losses.counts_itself = true;
        losses.parts.push_back({map.loss, counted_in(*running.map(map.name))});
    }
    if (!losses.counts_itself) losses.full_maps = maps.full_maps();
    return losses;
}

std::vector<Loss> read_tallies(const RunningProgram& running, MapReader& maps) {
    std::vector<Loss> tallies;
    for (const MapDeclaration& map : running.program().maps) {
        if (map.tally.empty()) continue;
        const std::vector<MapEntry> entries = maps.read(map.name);
        std::uint64_t count = 0;
        for (const MapEntry& entry : entries)
            count += map.aggregation.kind == Aggregation::Kind::none ? holds_something(entry)
                                                                     : entry.words[0];
        tallies.push_back({map.tally, count});
    }
    return tallies;
}

}  // namespace gpufs
