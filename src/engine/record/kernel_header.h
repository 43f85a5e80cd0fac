#pragma once

#include <string>
#include <vector>

#include "kernel/tracefs/tracefs.h"
#include "lang/trace_dat/write.h"

namespace gpufs {

// What a trace.dat says in front of the records of these events ("sched:sched_switch"), read from
// the running kernel; `at` has the clock. Without the number of CPUs and the rooms for what comes
// later. `symbols`: with the kernel's functions by address, for stacks; they take megabytes, and
// are there in any case where one of the events prints functions. Throws SysError.
trace_dat::Head read_trace_head(const Tracefs& at, const Tracefs& top,
                                const std::vector<std::string>& events, bool symbols);

}  // namespace gpufs
