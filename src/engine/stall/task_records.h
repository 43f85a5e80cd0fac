#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/kernel_abi.h"
#include "engine/stall/tracker.h"

namespace gpufs {

// What bpf_asm/lib/stall.bpf keeps of a watched task, and sends at the end of a stretch off the
// CPU: the record `task`, as that lays it out.
struct TaskRecord {
    std::uint32_t id = 0;
    std::uint32_t number = 0;  // how many were sent of this task, with this one
    std::uint32_t tid = 0, flags = 0;
    // 1: in no system call, 2 and 3: in `call`, 0: not known.
    std::uint32_t call_is = 0;
    std::uint64_t call = 0;
    std::array<std::uint64_t, 8> arguments{};  // 2: a piece of struct pt_regs; 3: the six
    std::uint64_t out = 0;                     // 0: it is on a CPU, or was off it from the first
    std::uint32_t state = 0, cpu_before = 0;
    std::uint64_t back = 0;
    std::uint32_t cpu_after = 0;
    std::int32_t stack_bytes = 0;
    std::uint64_t waking = 0;  // 0: not woken. Before `out`: woken on its way off the CPU
    std::uint32_t waker = 0, from_interrupt = 0, target_cpu = 0, wakeup_cpu = 0;
    std::uint64_t wakeup = 0;
    // When it left this CPU: how long it had waited for CPUs, in ns, and how often it had come to
    // one.
    std::uint64_t delay = 0, arrivals = 0;
    std::array<char, kCommBytes> waker_comm{}, comm{};
    std::uint64_t stacks_to = 0;
    std::int32_t user = -1;  // the number of its user stack; negative: none
    std::uint32_t tgid = 0;  // its process, where there is one
    std::array<std::uint64_t, 64> stack{};

    static constexpr std::uint32_t kAlone = 1, kLate = 4;  // in flags
};

// Where struct pt_regs has the arguments of a system call, on this architecture.
struct CallArguments {
    std::size_t at = 0;                   // the piece that is kept, in bytes
    std::array<std::uint8_t, 6> order{};  // the six within it
};
constexpr CallArguments call_arguments() {
#if defined __x86_64__
    return {56, {7, 6, 5, 0, 2, 1}};  // r10 r9 r8 ax cx dx si di
#else
    return {0, {0, 1, 2, 3, 4, 5}};
#endif
}

// Tells a StallTracker, from such records, the same events that tracefs would have told. A record
// of a task that is still off its CPU may be told before the one that is sent at its end.
class TaskRecords {
public:
    // Borrowed.
    explicit TaskRecords(StallTracker& tracker) : tracker_(tracker) {}

    // What was sent, in its order; `user`: the user stack with that number.
    void take(const TaskRecord& record, std::vector<Frame> user = {});
    void take_newtask(int parent, int tid, std::string_view comm, std::uint64_t clone_flags);
    void take_exec(int tid, int old_tid);
    void take_exit(int tid);
    // What is kept of a task that is off its CPU. Ignored while something that was sent of it has
    // not been taken.
    void look(const TaskRecord& kept, std::vector<Frame> user = {});
    // Whether that says nothing new.
    bool knows(const TaskRecord& kept) const;
    // What was told as under way and is no longer: the program counted it, and sent nothing.
    void forget_unsent(const TaskRecord& kept);
    // Records of tasks were lost: the tracker is told for those whose `kept` says that some are.
    void resume(const TaskRecord& kept, std::uint64_t now_ns);

    std::vector<int> take_execed();

private:
    // How far the tracker was told of a task.
    struct Told {
        std::uint32_t number = 0;
        std::uint64_t out = 0;
        bool waking = false, wakeup = false;
    };
    void tell(const TaskRecord& record, Told& told, std::vector<Frame> user);

    StallTracker& tracker_;
    std::unordered_map<int, Told> told_;
    std::vector<int> execed_;
};

}  // namespace gpufs
