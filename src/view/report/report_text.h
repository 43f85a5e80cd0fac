#pragma once

#include <span>
#include <string>

#include "engine/results/report_rows.h"
#include "lang/program/program.h"
#include "view/columns.h"
#include "view/monitor/value_text.h"

namespace gpufs {

// What a map counted, below the report's title. A table, the key's members to the left:
//
//   System calls
//   COMM  COUNT
//   make    321
//
// a histogram with its percentiles for each key, or a row of these; below each row whose key has
// stacks, those as a tree, weighed by the sum where the aggregation has one without a sign, else by
// the count. Values have human units. Rows behind the report's top are left out, and counted. Empty
// where there is nothing to show. Behind counts and sums of a known time stands how much that is
// each second. Where the screen plots, rows of percentiles have the shape of their histograms.
// `trends`, one a row, are shown as a last column of all but drawn histograms; empty: there is
// none. Where this column would not fit, some percentiles are left out.
std::string report_text(const MapDeclaration& map, const Report& report, ReportRows rows,
                        ValueWriter& values, const Screen& screen = {},
                        std::span<const std::string> trends = {});

}  // namespace gpufs
