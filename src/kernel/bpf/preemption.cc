#include "kernel/bpf/preemption.h"

#include <algorithm>

#include "kernel/host/kernel_version.h"

namespace gpufs {
namespace {

constexpr std::string_view kPreemptible[] = {
    "raw_syscalls:sys_enter",   "raw_syscalls:sys_exit",    "task:task_newtask",
    "task:task_rename",         "sched:sched_process_fork", "sched:sched_process_exec",
    "sched:sched_process_exit",
};

}  // namespace

bool preempts_raw_tracepoints() {
    return running_kernel() >= KernelVersion{7, 0, 0};
}

bool comes_preemptible(std::string_view tracepoint) {
    return std::ranges::count(kPreemptible, tracepoint) != 0;
}

bool shares_stacks_at_uprobes() {
    return running_kernel() >= KernelVersion{6, 13, 0};
}

}  // namespace gpufs
