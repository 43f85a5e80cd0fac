#pragma once

#include <cstdint>

namespace gpufs {

// Process ids differ between pid namespaces. tracefs (common_pid), bpf_get_current_pid_tgid() and
// fields of events give those of the initial one. perf records, the side-band's too, give those of
// whoever opened the event, and /proc those of whoever mounted it. From inside a namespace nothing
// tells the initial id of another process (/proc/PID/status shows NSpid from here downwards only):
// where gpufs is not in the initial namespace, programs have to ask for its own ids with
// bpf_get_ns_current_pid_tgid(), Linux 5.7, which takes these two numbers. It gives none for a
// process that is not in this namespace itself, be it in one below it.
struct PidNamespace {
    std::uint64_t device = 0, inode = 0;
    bool operator==(const PidNamespace&) const = default;

    // include/linux/proc_ns.h: PROC_PID_INIT_INO is the same on every machine.
    bool is_initial() const noexcept { return inode == 0xeffffffc; }
};

// Throws UnsupportedError in any but the initial one: for whoever writes pids into tracefs, which
// would take them for those of other processes.
void require_initial_pids();

// That of this process, or of another one. Throws SysError.
PidNamespace own_pid_namespace();
PidNamespace pid_namespace_of(int pid);

}  // namespace gpufs
