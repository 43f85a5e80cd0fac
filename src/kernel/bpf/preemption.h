#pragma once

namespace gpufs {

// Since Linux 7.0 a program can be preempted at a raw tracepoint and at the event of one system
// call, and the kernel leaves out a program of which a preempted run is on the same CPU (seen
// on 7.3: a fifth of the calls of four tasks on two CPUs). At perf's events of other tracepoints,
// which are raw_syscalls:sys_enter and sys_exit, too, it cannot.
bool preempts_raw_tracepoints();

}  // namespace gpufs
