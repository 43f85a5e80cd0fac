#pragma once

#include <string_view>

namespace gpufs {

// The events whose records name a task: its id and its name are these fields. sched_process_exec,
// which has a file instead of a name, is not among them.
struct NamingEvent {
    std::string_view event, tid, comm;
    bool is_after = false;  // the name that the task has from the event on, otherwise at the event
};
inline constexpr NamingEvent kNamingEvents[] = {
    {"sched:sched_switch", "prev_pid", "prev_comm"},
    {"sched:sched_switch", "next_pid", "next_comm"},
    {"sched:sched_wakeup", "pid", "comm"},
    {"sched:sched_wakeup_new", "pid", "comm"},
    {"sched:sched_waking", "pid", "comm"},
    {"sched:sched_process_fork", "child_pid", "child_comm"},
    {"sched:sched_process_exit", "pid", "comm"},
    {"sched:sched_prepare_exec", "pid", "comm"},
    {"sched:sched_stat_runtime", "pid", "comm"},
    {"task:task_newtask", "pid", "comm"},
    {"task:task_rename", "pid", "newcomm", true},
};

}  // namespace gpufs
