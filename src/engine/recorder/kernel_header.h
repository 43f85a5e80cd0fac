#pragma once

#include <string>
#include <vector>

#include "kernel/tracefs/tracefs.h"
#include "lang/trace_dat/write.h"

namespace gpufs {

// Reads the header of a trace.dat for records of these events ("sched:sched_switch") from the
// running kernel; the clock comes from `at`. Does not set Head::cpus, names_room and stats_room.
// `symbols`: include the addresses of kernel functions, for stacks; they take megabytes, and are
// included in any case if one of the events prints functions. Throws SysError.
trace_dat::Head read_trace_head(const Tracefs& at, const Tracefs& top,
                                const std::vector<std::string>& events, bool symbols);

}  // namespace gpufs
