#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/results/report_rows.h"
#include "lang/program/program.h"
#include "view/columns.h"
#include "view/monitor/stack_frame.h"
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
// `trends`, one a row, are shown as a last column of what is counted; empty: there is none. Where
// this column would not fit, some percentiles are left out.
std::string report_text(const MapDeclaration& map, const Report& report, ReportRows rows,
                        ValueWriter& values, const Screen& screen = {},
                        std::span<const std::string> trends = {});

// {"map":"calls","title":"System calls","entries":[{"key":{"comm":"make"},"count":321}]}. Numbers
// are in their own unit: "unit" is that of what is aggregated, "units" those of the key's and the
// data's members, where there are some. The key of a map of one element is {}. Histograms have what
// `stats` have, "percentiles" and "histogram"; data has "values", one object a CPU. Counts and sums
// of a known time have "rate", by the second.
std::string report_json(const MapDeclaration& map, const Report& report, const ReportRows& rows,
                        ValueWriter& values);

// A line a stack as flamegraph.pl reads it, the outermost frame first:
// "make;main;read;do_syscall_64;vfs_read 80", weighed the same, in the map's own unit. Empty where
// the key has no stack.
std::string folded_text(const MapDeclaration& map, const ReportRows& rows, ValueWriter& values);

// The same stacks, of which the cells of the key are the outermost frames.
std::vector<CountedStack> counted_stacks(const MapDeclaration& map, const ReportRows& rows,
                                         ValueWriter& values);
// The unit of their weights; empty: they count.
std::string_view stack_unit(const MapDeclaration& map);

bool has_stacks(const Layout& layout);
// A map's key has some.
bool has_stacks(const Program& program);

}  // namespace gpufs
