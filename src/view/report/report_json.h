#pragma once

#include <string>

#include "engine/results/report_rows.h"
#include "lang/program/program.h"
#include "view/monitor/value_text.h"

namespace gpufs {

// {"map":"calls","title":"System calls","entries":[{"key":{"comm":"make"},"count":321}]}. Numbers
// are in their own unit: "unit" is that of what is aggregated, "units" those of the key's and the
// data's members, where there are some. The key of a map of one element is {}. Histograms have what
// `stats` have, "percentiles" and "histogram"; data has "values", one object a CPU. Counts and sums
// of a known time have "rate", by the second.
std::string report_json(const MapDeclaration& map, const Report& report, const ReportRows& rows,
                        ValueWriter& values);

}  // namespace gpufs
