#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/results/map_entries.h"

namespace gpufs::test {

// A MapEntry that owns what it has.
struct OwnEntry {
    std::vector<std::byte> key;
    std::vector<std::uint64_t> words = {};
    std::vector<HistogramBucket> buckets = {};
    std::vector<std::vector<std::byte>> values = {};
};

inline std::vector<OwnEntry> own_entries(const MapEntries& entries) {
    std::vector<OwnEntry> own;
    for (const MapEntry& entry : entries)
        own.push_back({{entry.key.begin(), entry.key.end()},
                       {entry.words.begin(), entry.words.end()},
                       {entry.buckets.begin(), entry.buckets.end()},
                       {entry.values.begin(), entry.values.end()}});
    return own;
}

// All have as many words as the first.
inline MapEntries map_entries(const std::vector<OwnEntry>& own) {
    if (own.empty()) return {};
    MapEntries entries(own.front().key.size(), own.front().words.size());
    for (const OwnEntry& one : own) {
        const std::size_t at = entries.add(one.key);
        std::ranges::copy(one.words, entries.words(at).begin());
        if (!one.buckets.empty()) entries.buckets(at) = one.buckets;
        if (!one.values.empty()) entries.values(at) = one.values;
    }
    return entries;
}

}  // namespace gpufs::test
