#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bt/types/type.h"
#include "view/bt/value_names.h"

namespace gpufs::bt {

// What a tseries has of each epoch.
using EpochValues = std::map<std::uint64_t, std::uint64_t>;

// One interval: when it began, in ns since 1970, and its value, absent where none came.
struct SeriesPoint {
    std::uint64_t wall_ns = 0;
    std::optional<std::uint64_t> value;
};

// The intervals from the first that has a value to `last`, as many as the type has at most. Empty
// if none of them has a value.
std::vector<SeriesPoint> series_points(const Type& type, const EpochValues& values,
                                       std::uint64_t last, ValueNames& names);

// A graph with a line for each interval.
void append_series(std::string& out, const Type& type, const std::vector<SeriesPoint>& points);
// [{"interval_start": "1970-01-01 00:00:00.500000000", "value": 9}, …] of those that have a value,
// without the blanks. The time is UTC.
void append_series_json(std::string& out, const Type& type, const std::vector<SeriesPoint>& points);

}  // namespace gpufs::bt
