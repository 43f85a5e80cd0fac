#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bt/types/type.h"

namespace gpufs::bt {

// What each slot of a hist or lhist counted, by the slot's number as in ScriptMap.
using SlotCounts = std::map<std::uint64_t, std::uint64_t>;

// A row of a histogram: how often a value from `first` to `last` came. Without one of them the row
// is open at that end.
struct HistogramRow {
    std::optional<std::int64_t> first, last;
    std::string label;  // "[2, 4)"
    std::uint64_t count = 0;
    std::uint64_t weight = 0;  // the count as it was, which the bar is drawn from
};

// The rows from the first slot that counted something to the last. A hist's counts are divided by
// `div`; slots that the type does not have are left out. `is_old`: as bpftrace 0.17 has them, see
// Language.
std::vector<HistogramRow> histogram_rows(const Type& type, const SlotCounts& counts,
                                         std::uint64_t div = 1, bool is_old = false);

// A line each, with a bar.
void append_rows(std::string& out, const std::vector<HistogramRow>& rows);
// [{"min": 0, "max": 0, "count": 2}, …], without the blank between rows.
void append_rows_json(std::string& out, const std::vector<HistogramRow>& rows);

}  // namespace gpufs::bt
