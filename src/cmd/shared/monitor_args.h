#pragma once

#include <string>
#include <vector>

#include "lang/program/parameters.h"
#include "lang/program/program.h"

namespace gpufs {

// What a user says of the monitors to run.

// -p is the monitor's own parameter `pid`: only it knows which of its events are of the process.
// Returns the process where the monitor has none and looks at followed tasks, which are to be its
// threads then; else 0. Throws UsageError where it has neither, for several processes, and, when it
// is to run live, for a thread that is not its process's first.
int take_pid(const Program& program, const std::vector<int>& pids, bool is_live,
             ParameterValues& values);

}  // namespace gpufs
