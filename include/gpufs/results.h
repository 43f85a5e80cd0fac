#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gpufs/value.h"

namespace gpufs::api {

// A part of a histogram: so many values, from `least` to `most`, both of which came.
struct Bucket {
    std::int64_t least = 0, most = 0;
    std::uint64_t count = 0;
};

// What a map holds for one key, all CPUs together, and for all keys whose stacks are of the same
// functions, which are one. A member that the map does not measure is absent
// or empty. All but `count` are in MapInfo::unit.
struct Row {
    Members key;
    std::uint64_t count = 0;  // 0 where only a sum, a minimum or a maximum is kept
    std::optional<std::int64_t> sum, min, max;
    std::vector<Bucket> histogram;  // ascending
    std::vector<Members> data;      // of a map that keeps data: its value, or one for each CPU
};

// A record that a program sent.
struct Record {
    std::string name;  // of the .record in the text
    Members members;
};
using OnRecord = std::function<void(const Record&)>;

// Something that is missing in the results.
struct Loss {
    std::string what;         // "records, a ring was full"
    std::uint64_t count = 0;  // how much at least; exactly that if `most` is the same
    std::uint64_t most = 0;   // how much at most; UINT64_MAX if that is unknown
};

}  // namespace gpufs::api
