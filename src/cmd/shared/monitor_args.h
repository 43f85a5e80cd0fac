#pragma once

#include <string>
#include <vector>

#include "lang/program/parameters.h"
#include "lang/program/program.h"

namespace gpufs {

// What a user says of the monitors to run.

// Assembles a monitor, by its name or file, as load_monitor() finds it. Throws UsageError with all
// that is wrong with its text, and where nobody but root could have written what root is to run.
Program load_program(const std::string& name_or_file);

// The same without its code, where that is known to be right: name, summary, parameters, maps and
// what its programs are attached to.
Program load_declarations(const std::string& name_or_file);

// -p is the monitor's own parameter `pid`: only it knows which of its events are of the process.
// Throws UsageError where it has none, for several processes, and, when it is to run live, for a
// thread that is not its process's first.
void take_pid(const Program& program, const std::vector<int>& pids, bool is_live,
              ParameterValues& values);

}  // namespace gpufs
