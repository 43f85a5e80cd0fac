#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/results/map_contents.h"
#include "lang/program/program.h"

namespace gpufs {

// A map's entries as shown in a report.
struct ReportRows {
    Layout key;  // the members that are grouped by, in the report's order
    MapEntries entries;
    std::uint64_t during_ns = 0;  // the time in which they were counted, for rates; 0: no rates
};

// What a stack of a key looks like: stacks of the same text are one, whatever their addresses. Gets
// the member of the key that has the stack, and the whole key.
using StackText = std::function<std::string(const Member& stack, std::span<const std::byte> key)>;

// Merges entries with equal values of the members in `report.by`, for a total all entries: adds
// counts, sums and histograms, and takes minima and maxima, so the result is exact. Sorts by
// `report.sort`, descending (`min`, `key` and data: ascending), entries with equal values by key.
// The default sort is `sum` for stats, `avg` for avg, the count for histograms, otherwise the
// aggregated value; arrays are sorted by index. Returns all rows: the caller applies `report.top`.
// Without `stack_text`, stacks are equal if they are the same in the kernel.
ReportRows report_rows(const MapDeclaration& map, const Report& report, MapEntries entries,
                       const StackText& stack_text = {});

// The report for a map without a declared one: its title and all members.
Report default_report(const MapDeclaration& map);

// The maps reported at the end and at each interval: those that aggregate, and data maps with a
// report; not those shown as a single number.
std::vector<const MapDeclaration*> reported_maps(const Program& program);
// The reports of a map, or its default report.
std::vector<Report> reports_of(const Program& program, const MapDeclaration& map);

}  // namespace gpufs
