#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/host/proc_task.h"

namespace gpufs {

// Why a task does not run, with the kernel's letters. One interval has one state.
enum class TaskState : char {
    runnable = 'R',         // waits for a CPU
    sleeping = 'S',         // interruptible sleep
    uninterruptible = 'D',  // sleeps and takes no signal
    stopped = 'T',
    traced = 't',
    idle = 'I',  // a kernel thread that has nothing to do: D that does not count as load
    parked = 'P',
    dead = 'X',
};

// The state in sched_switch's prev_state. 0 and 0x100 (preempted) are R.
TaskState state_of_switch(std::uint64_t prev_state);

// A set of states, from "D", "D,R" or "any". Throws UsageError, naming `what`.
class StateSet {
public:
    static StateSet parse(std::string_view what, std::string_view text);

    void add(TaskState state) { bits_ |= bit(state); }
    bool has(TaskState state) const { return (bits_ & bit(state)) != 0; }
    // The condition on prev_state that holds for a switch-out into one of these states: the
    // trigger's. It is never empty, because a trigger without a condition ignores the pid filter.
    std::string condition() const;
    std::string to_text() const;

private:
    static std::uint64_t bit(TaskState s) {
        return std::uint64_t{1} << (static_cast<char>(s) & 63);
    }
    std::uint64_t bits_ = 0;
};

// The file behind a system call's descriptor.
struct StallFile {
    int fd = -1;
    std::string path;  // as readlink(2) of /proc/PID/fd/N says: "/dev/watchdog", "pipe:[4711]"
    // Read while the task was in this very call. Otherwise it was read afterwards, and the
    // descriptor may have been closed or reused.
    bool is_verified = false;
};

struct Waker {
    int pid = 0;
    std::string comm;
    bool from_interrupt = false;  // the task named merely ran where the interrupt came
};

// Who ran on a CPU, and for how long.
struct CpuUse {
    int pid = 0;
    std::string comm;
    std::uint64_t ns = 0;
};

// One stretch of time in which a task did not run, all of it in one state. Times are of the trace
// clock "mono", in nanoseconds.
struct Stall {
    int tid = 0, tgid = 0;
    std::string comm;
    TaskState state = TaskState::uninterruptible;
    std::uint64_t begin_ns = 0, end_ns = 0;

    SyscallState syscall;
    std::vector<std::uint64_t> stack;      // addresses, innermost first, at the switch-out
    std::vector<std::string> stack_names;  // instead, from /proc/TID/stack
    std::optional<StallFile> file;
    std::string wchan;  // function it waits in, from /proc; only when there is no stack

    std::optional<Waker> waker;
    int cpu_before = -1, cpu_after = -1;  // -1: not known
    std::uint64_t run_delay_ns = 0;       // how long it then waited for a CPU
    std::optional<TaskState> after;       // R: what it was woken from; absent when preempted
    std::vector<CpuUse> ran_meanwhile;    // R: on the CPU it waited for, the longest first
    int cpu_waited = -1;                  // R: that CPU

    bool is_cut = false;        // began before gpufs looked: it lasted longer
    bool is_ongoing = false;    // had not ended when this was made
    bool wakeup_lost = false;   // ended by a wake-up that was not seen: end is the switch-in
    bool is_end_late = false;   // its way back to a CPU was not seen: it may have been shorter
    bool hides_losses = false;  // events were lost while it lasted: it may be several

    std::uint64_t duration_ns() const { return end_ns > begin_ns ? end_ns - begin_ns : 0; }
};

}  // namespace gpufs
