#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/monitor/loaded_site.h"
#include "engine/monitor/prepared_program.h"

namespace gpufs {

// What --explain prints: a line for each program, which says where it runs and how, and what was
// chosen or left out.
//
//   wakeup: tracepoint sched:sched_wakeup, as raw tracepoint sched_wakeup: it reads no field,
//   41 instructions
std::vector<std::string> explanation(std::span<const LoadedSite> sites,
                                     const PreparedProgram& prepared);

// A line for each caution. Of those that say of several things "... are not told: WHY" the things
// with one reason share a line:
//
//   polls; suspend and resume are not told: the driver's functions cannot be probed here
std::vector<std::string> caution_lines(const std::vector<std::string>& cautions);

}  // namespace gpufs
