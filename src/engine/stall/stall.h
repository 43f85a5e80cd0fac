#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/stall/syscall_text.h"
#include "engine/symbols/symbols.h"
#include "kernel/host/proc_task.h"

namespace gpufs {

// Why a task does not run, with the kernel's letters. A stall has one state.
enum class TaskState : char {
    runnable = 'R',         // waits for a CPU
    sleeping = 'S',         // interruptible sleep
    uninterruptible = 'D',  // sleep that signals do not interrupt
    stopped = 'T',
    traced = 't',
    idle = 'I',  // an idle kernel thread: like D, but not counted as load
    parked = 'P',
    dead = 'X',
};

// The state encoded in sched_switch's prev_state. 0 and 0x100 (preempted) are R.
TaskState state_of_switch(std::uint64_t prev_state);

// A set of states, from "D", "D,R" or "any". parse() throws UsageError with `what`.
class StateSet {
public:
    static StateSet parse(std::string_view what, std::string_view text);

    void add(TaskState state) { bits_ |= bit(state); }
    bool has(TaskState state) const { return (bits_ & bit(state)) != 0; }
    // The condition on prev_state that is true for a switch-out into one of these states; used for
    // triggers. Never empty, because a trigger without a condition ignores the pid filter.
    std::string condition() const;
    std::string to_text() const;

private:
    static std::uint64_t bit(TaskState s) {
        return std::uint64_t{1} << (static_cast<char>(s) & 63);
    }
    std::uint64_t bits_ = 0;
};

// The file of a system call's descriptor argument.
struct StallFile {
    int fd = -1;
    std::string path;  // readlink(2) of /proc/PID/fd/N: "/dev/watchdog", "pipe:[4711]"
    // Read while the task was in this very call. Otherwise it was read later, and the descriptor
    // may have been closed or reused.
    bool is_verified = false;
};

struct Waker {
    int pid = 0;
    std::string comm;
    bool from_interrupt = false;  // `pid` is only the task that was interrupted
};

// A task that ran on a CPU, and for how long.
struct CpuUse {
    int pid = 0;
    std::string comm;
    std::uint64_t ns = 0;
};

// A time during which a task did not run and was in one state. Times are of the trace clock "mono",
// in ns.
struct Stall {
    int tid = 0, tgid = 0;
    std::string comm;
    TaskState state = TaskState::uninterruptible;
    std::uint64_t begin_ns = 0, end_ns = 0;

    SyscallState syscall;
    CallTexts call_texts;                  // read while the task was in this very call
    std::vector<std::uint64_t> stack;      // addresses, innermost first, at the switch-out
    std::vector<Frame> user_stack;         // from there outwards, of the program
    std::vector<std::string> stack_names;  // used if there are no addresses, from /proc/TID/stack
    std::optional<StallFile> file;
    std::string wchan;  // the function it waits in, from /proc; only without a stack

    std::optional<Waker> waker;
    int cpu_before = -1, cpu_after = -1;  // -1: unknown
    std::uint64_t run_delay_ns = 0;       // how long it waited for a CPU after the wake-up
    std::optional<TaskState> after;       // R: the state it was woken from; absent if preempted
    std::vector<CpuUse> ran_meanwhile;    // R: on the CPU it waited for, longest first
    int cpu_waited = -1;                  // R: that CPU

    bool is_cut = false;        // began before gpufs looked: it lasted longer
    bool is_ongoing = false;    // had not ended yet
    bool wakeup_lost = false;   // the wake-up was not seen: `end_ns` is the switch-in
    bool is_end_late = false;   // the switch-in was not seen: it may have been shorter
    bool hides_losses = false;  // events were lost meanwhile: it may be several stalls

    std::uint64_t duration_ns() const { return end_ns > begin_ns ? end_ns - begin_ns : 0; }
};

}  // namespace gpufs
