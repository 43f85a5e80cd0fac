#pragma once

#include <cstdint>

namespace gpufs {

// Process ids differ between pid namespaces. tracefs (common_pid), bpf_get_current_pid_tgid() and
// fields of events use the initial one. perf records, including the side-band's, use that of the
// opener of the event, and /proc that of its mount. From inside a namespace there is no way to
// learn the initial id of another process (/proc/PID/status shows NSpid only from here downwards).
// So when gpufs runs in another namespace, programs must ask for ids of that namespace with
// bpf_get_ns_current_pid_tgid() (Linux 5.7), which takes these two numbers. It fails for processes
// not in that very namespace, including those in nested ones.
struct PidNamespace {
    std::uint64_t device = 0, inode = 0;
    bool operator==(const PidNamespace&) const = default;

    // include/linux/proc_ns.h: PROC_PID_INIT_INO is the same on every machine.
    bool is_initial() const noexcept { return inode == 0xeffffffc; }
};

// Throws UnsupportedError outside the initial namespace. Call it before writing pids into tracefs,
// which would take them for ids of other processes.
void require_initial_pids();
// The same, before what a COMMAND starts is to be followed: the kernel tells new tasks by those
// ids.
void require_pids_to_follow();

// The namespace of this process. Throws SysError.
PidNamespace own_pid_namespace();

}  // namespace gpufs
