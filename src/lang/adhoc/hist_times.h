#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lang/adhoc/latency_hists.h"
#include "lang/trigger/hist_listing.h"

namespace gpufs {

// What the tables of latency_hists.h say, by the keys of the program's maps: of the map "latency",
// or four zeros where it has none. What is no entry of such a table is left out.

// Times in nanoseconds.
struct TimeBucket {
    std::vector<std::byte> key;
    std::uint32_t number = 0;  // of the map's histogram
    // The sum of what is in it, and what its bounds are.
    std::uint64_t count = 0, total = 0, least = 0, most = 0;
};
// Of a table of the role `bucket`.
std::vector<TimeBucket> time_buckets(const LatencyHists& hists, const HistListing& listing);

struct TimeExtreme {
    std::vector<std::byte> key;
    std::uint64_t time = 0;
};
// Of a table of the role `least` or `most`.
std::vector<TimeExtreme> time_extremes(const LatencyHists& hists, const HistListing& listing);

struct LongestPair {
    std::vector<std::byte> key;  // of the map "longest"
    std::uint64_t time = 0;
    std::uint64_t end = 0;  // when it ended, by CLOCK_MONOTONIC
};
// Of the table of the role `longest`; absent while there is no pair.
std::optional<LongestPair> longest_pair(const LatencyHists& hists, const HistListing& listing);

}  // namespace gpufs
