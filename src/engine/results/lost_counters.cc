#include "engine/results/lost_counters.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/cat.h"

namespace gpufs {
namespace {

// The value of a one-element map that counts a loss.
std::uint64_t counted_in(const ProgramMap& map) {
    const std::uint32_t zero = 0;
    std::uint64_t count = 0;
    map.lookup(bytes_of(zero), std::as_writable_bytes(std::span(&count, 1)));
    return count;
}

bool holds_something(const MapEntry& entry) {
    return !std::ranges::all_of(entry.values, is_zero);
}

}  // namespace

bool counts_losses(const Program& program) {
    return std::ranges::any_of(program.maps,
                               [](const MapDeclaration& map) { return !map.loss.empty(); });
}

LossLedger read_losses(LossLedger losses, const RunningProgram& running, MapReader& maps) {
    for (const MapDeclaration& map : running.program().maps) {
        if (map.loss.empty()) continue;
        const Loss counted = Loss::exactly(counted_in(*running.map(map.name)));
        if (map.misses_of.empty())
            losses.add(map.loss, counted);
        else
            losses.add_same(map.loss, counted);
    }
    if (counts_losses(running.program())) return losses;
    for (const std::string& map : maps.full_maps())
        losses.add(cat("keys: map '", map, "' is full"), Loss::at_least(0));
    return losses;
}

std::vector<Tally> read_tallies(const RunningProgram& running, MapReader& maps) {
    std::vector<Tally> tallies;
    for (const MapDeclaration& map : running.program().maps) {
        if (map.tally.empty()) continue;
        const MapEntries entries = maps.read(map.name);
        std::uint64_t count = 0;
        for (const MapEntry& entry : entries)
            count += map.aggregation.kind == Aggregation::Kind::none ? holds_something(entry)
                                                                     : entry.words[0];
        tallies.push_back({map.tally, count});
    }
    return tallies;
}

}  // namespace gpufs
