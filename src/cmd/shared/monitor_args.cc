#include "cmd/shared/monitor_args.h"

#include "base/cat.h"
#include "base/error.h"
#include "kernel/host/proc_task.h"

namespace gpufs {

int take_pid(const Program& program, const std::vector<int>& pids, bool is_live,
             ParameterValues& values) {
    if (pids.empty()) return 0;
    const bool has_pid = program.find_parameter("pid") != nullptr;
    if (!has_pid && !(is_live && program.find_parameter(kFollowing)))
        throw UsageError(cat("monitor '", program.name, "' has no parameter 'pid' for -p to set"),
                         "--if 'pid == N' compares an event's own field pid where it has one, else "
                         "the process that runs");
    if (pids.size() > 1 || values.numbers.contains("pid"))
        throw UsageError("a monitor watches one process, or all: give one PID");
    const int process = is_live ? proc::require_tgid(pids.front()) : pids.front();
    if (process != pids.front())
        throw UsageError(cat(pids.front(), " is a thread of process ", process),
                         cat("a monitor watches whole processes: -p ", process));
    if (!has_pid) return process;
    values.numbers["pid"] = process;
    return 0;
}

}  // namespace gpufs
