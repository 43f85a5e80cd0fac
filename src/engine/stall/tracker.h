#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/stall/stall.h"

namespace gpufs {

// Turns the events of some tasks into their stalls. A pure state machine: it is fed decoded events
// in the order of their time, and asks nobody. Events of tasks that are not watched are ignored.
class StallTracker {
public:
    struct Choice {
        StateSet states;            // what to report
        std::uint64_t over_ns = 0;  // stalls from this long on
        bool children = false;      // processes that watched ones start are watched, too
    };
    explicit StallTracker(const Choice& choice) : choice_(choice) {}

    // A task to watch. `alone`: threads that it starts are not watched.
    void watch(int tid, int tgid, std::string_view comm, bool alone = false);
    bool watches(int tid) const { return tasks_.contains(tid); }
    std::size_t watched() const { return tasks_.size(); }
    bool is_alone(int tid) const { return watches(tid) && tasks_.at(tid).is_alone; }
    // It was seen in /proc in this state, before its first event. Its interval is cut there. The
    // stall carries what else /proc says.
    void found(int tid, const Stall& blocked);

    // The events. `cpu` and `ns` are the record's; a switch carries the name of each task.
    struct Side {
        int pid;
        std::string_view comm;
    };
    void on_switch(std::uint64_t ns, int cpu, Side prev, std::uint64_t prev_state, Side next);
    // It recorded an event, so it is on a CPU, whether its switch was seen or not.
    void on_run(std::uint64_t ns, int cpu, int pid);
    // The stack of the last switch on this CPU.
    void on_stack(int cpu, int pid, std::vector<std::uint64_t> stack, std::vector<Frame> user = {});
    void on_waking(std::uint64_t ns, int pid, int target_cpu, Waker waker);
    void on_wakeup(std::uint64_t ns, int pid, int target_cpu);
    void on_syscall_enter(int pid, const SyscallRef& call);
    void on_syscall_exit(int pid);
    // From here on nobody tells the system calls.
    void forget_syscalls();
    void on_newtask(int parent, int pid, std::string_view comm, std::uint64_t clone_flags);
    // A thread that is not the first one takes over the process's id. True when the kernel's pid
    // filter has lost it by that.
    bool on_exec(int pid, int old_pid);
    void on_exit(int pid);
    // The open interval is over, was not asked for, and is counted elsewhere.
    void forget_open(int tid);
    // Events were lost, none of them before `since_ns`.
    void on_loss(std::uint64_t since_ns);

    // Stalls that ended since the last call, over the threshold and in the states asked for.
    std::vector<Stall> take_ended();
    // The open intervals that are over the threshold by now, each given once; borrowed until the
    // next event. What is known beyond the events can be added to them.
    std::vector<Stall*> due(std::uint64_t now_ns);
    // When the next one will be due; absent when nothing waits.
    std::optional<std::uint64_t> next_due() const;
    // The open interval of a task in one of the states asked for, null if there is none.
    Stall* open_stall(int tid);
    // When the oldest open interval of a state began.
    std::optional<std::uint64_t> oldest_open(TaskState state) const;
    // All that are under way over the threshold, as ongoing.
    std::vector<Stall> ongoing(std::uint64_t now_ns) const;

    // Intervals over the threshold in states that were not asked for.
    struct Other {
        std::uint64_t count = 0, longest_ns = 0;
        std::uint64_t ongoing = 0;        // of `count`: not over yet
        bool is_longest_ongoing = false;  // it will have lasted longer
    };
    using Others = std::map<TaskState, Other>;
    const Others& others() const { return others_; }
    // With those that are under way.
    Others others_until(std::uint64_t now_ns) const;

private:
    struct Task {
        int tid = 0, tgid = 0;
        std::string comm;
        bool is_alone = false;
        SyscallState syscall;
        std::optional<Stall> open;   // off the CPU since
        std::optional<Stall> ended;  // woken from this, waits for its CPU
        std::optional<Waker> early;  // woken before it was off the CPU
        bool was_due = false;
        // It was runnable when it was found: on a CPU or waiting for one, who knows.
        bool is_unsure = false;
    };
    Task* find(int tid);
    void switch_out(Task& task, std::uint64_t ns, int cpu, std::uint64_t prev_state);
    void switch_in(Task& task, std::uint64_t ns, int cpu);
    void come_back_unseen(Task& task, std::uint64_t ns, int cpu);
    void end_sleep(Task& task, std::uint64_t ns, int target_cpu, std::optional<Waker> waker);
    void finish(Stall stall);
    void count_other(Others& others, const Stall& stall) const;
    bool is_due(const Task& task, std::uint64_t now_ns) const;

    Choice choice_;
    std::unordered_map<int, Task> tasks_;
    std::unordered_map<int, int> last_out_;  // by CPU: whom the last switch took off it
    std::vector<Stall> ended_;
    Others others_;
    bool is_told_syscalls_ = true;
};

}  // namespace gpufs
