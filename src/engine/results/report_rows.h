#pragma once

#include <vector>

#include "engine/results/map_contents.h"
#include "lang/program/program.h"

namespace gpufs {

// A map's entries as a report wants them.
struct ReportRows {
    Layout key;  // the members of the map's key that are grouped by, in the report's order
    std::vector<MapEntry> entries;
};

// Entries whose members in `report.by` are equal become one, or of a total all: counts, sums and
// histograms are added, extremes compared, so nothing is inexact. Then sorted by `report.sort`,
// most first (`min`: least first; `key` and data: by the key, ascending), equal ones by their key.
// All are there: `report.top` is for those who show them to people. Without a sort: `sum` for
// stats, `avg` for avg, else the aggregation itself, which of histograms is the count; arrays by
// their index.
ReportRows report_rows(const MapDeclaration& map, const Report& report,
                       std::vector<MapEntry> entries);

// All that the report of a map shows where its program declares none: title and all members.
Report default_report(const MapDeclaration& map);

// The maps that are shown at the end and each interval: those that aggregate, and data where a
// report asks for it; not what is told in one number.
std::vector<const MapDeclaration*> reported_maps(const Program& program);
// The reports of a map, or its default one.
std::vector<Report> reports_of(const Program& program, const MapDeclaration& map);

}  // namespace gpufs
