#pragma once

#include <string_view>

namespace gpufs {

// Since Linux 7.0 a program can be preempted at a raw tracepoint and at the event of one system
// call, and the kernel leaves out a program of which a preempted run is on the same CPU (seen
// on 7.3: a fifth of the calls of four tasks on two CPUs). At perf's events of other tracepoints,
// which are raw_syscalls:sys_enter and sys_exit, too, it cannot.
bool preempts_raw_tracepoints();

// Whether the tracepoint, "sched:sched_process_exit", comes while its task can be preempted. Most
// of the others that monitors look at are in the scheduler and in interrupts.
bool comes_preemptible(std::string_view tracepoint);

// Since Linux 6.13 programs have a stack of their own on each CPU, and at places in programs and
// libraries they can be preempted, by a task that runs the same one there, too: seen on 7.3, where
// keys of one thread's calls became those of another's. A program with a tail call in it runs on
// the task's stack (kernel/bpf/verifier.c, check_max_stack_depth()).
bool shares_stacks_at_uprobes();

}  // namespace gpufs
