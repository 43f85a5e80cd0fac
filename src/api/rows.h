#pragma once

#include <string>
#include <vector>

#include "engine/results/lost_counters.h"
#include "engine/results/map_contents.h"
#include "engine/results/running_program.h"
#include "gpufs/results.h"
#include "view/monitor/value_text.h"

namespace gpufs::api {

// The results of a running program as the public interface gives them.

// A map's entries, merged and sorted as its first report says. Throws UsageError when the program
// reports no such map.
std::vector<Row> rows_of(const RunningProgram& running, const std::string& map,
                         ValueWriter& values);

// Calls `on_record`, if there is one, with each record that it visits.
VisitRecord visit_with(const OnRecord& on_record, ValueWriter& values);

// `known`: what the reader or the interpreter missed.
std::vector<Loss> losses_of(const RunningProgram& running, LossLedger known);
// The kinds that are not zero.
std::vector<Loss> losses_of(const LossLedger& losses);

}  // namespace gpufs::api
