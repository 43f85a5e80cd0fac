#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/results/report_rows.h"
#include "view/columns.h"

namespace gpufs {

// What the rows of reports had in the last intervals: counts, or of sums, minima and maxima their
// values, of data its number where it has one. Rows are known by their keys, those of stacks by
// what stands beside the stacks; reports by a name.
class Trends {
public:
    static constexpr std::size_t kIntervals = 12;
    // Rows behind these have no trend: there may be hundred thousands, and few are seen.
    static constexpr std::size_t kMostRows = 2000;

    // Takes the rows of an interval that ends. Rows that are missing had nothing.
    void add(const std::string& report, const MapDeclaration& map, const ReportRows& rows);

    // A sparkline for each entry, the last interval to the right, each on a scale of its own;
    // stacks of one row have the same. Empty where the map keeps data of several numbers or none.
    std::vector<std::string> texts(const std::string& report, const MapDeclaration& map,
                                   const ReportRows& rows, Plot plot) const;

private:
    using Values = std::array<double, kIntervals>;
    struct Row {
        Values values{};
        std::uint64_t last = 0;  // the interval of the last value
    };
    struct Rows {
        std::uint64_t interval = 0;
        std::map<std::vector<std::byte>, Row> rows;  // by key
    };
    std::map<std::string, Rows> reports_;
};

}  // namespace gpufs
