#include "engine/stall/stall.h"

#include "base/error.h"
#include "base/text.h"

namespace gpufs {
namespace {

// The bits of prev_state in sched_switch (include/linux/sched.h, task_state_array in
// fs/proc/array.c).
struct StateBit {
    TaskState state;
    unsigned bit;
};
constexpr StateBit kStateBits[] = {
    {TaskState::sleeping, 0x01}, {TaskState::uninterruptible, 0x02},
    {TaskState::stopped, 0x04},  {TaskState::traced, 0x08},
    {TaskState::dead, 0x10},     {TaskState::dead, 0x20},
    {TaskState::parked, 0x40},   {TaskState::idle, 0x80},
};
// TASK_REPORT_MAX: preempted, that is, switched out although still runnable.
constexpr unsigned kPreempted = 0x100;

constexpr TaskState kChoices[] = {
    TaskState::uninterruptible, TaskState::sleeping, TaskState::runnable, TaskState::stopped,
    TaskState::traced,          TaskState::parked,   TaskState::idle};

}  // namespace

TaskState state_of_switch(std::uint64_t prev_state) {
    if (prev_state & kPreempted) return TaskState::runnable;
    for (const StateBit& known : kStateBits)
        if (prev_state & known.bit) return known.state;
    return TaskState::runnable;
}

StateSet StateSet::parse(std::string_view what, std::string_view text) {
    StateSet set;
    for (const std::string& word : split(text, ',')) {
        bool is_known = false;
        for (const TaskState state : kChoices) {
            if (word != "any" && word != std::string(1, static_cast<char>(state))) continue;
            set.add(state);
            is_known = true;
        }
        if (!is_known)
            throw UsageError(cat(what, " does not know a state '", word, "'"),
                             "D, S, R, T, t, P or I, several with commas, or any");
    }
    if (set.bits_ == 0) throw UsageError(cat(what, " takes a state"), "D, S, R or any");
    return set;
}

std::string StateSet::condition() const {
    unsigned mask = 0;
    for (const StateBit& known : kStateBits)
        if (has(known.state)) mask |= known.bit;
    std::string text = mask == 0 ? std::string() : cat("prev_state & ", mask);
    if (has(TaskState::runnable))
        text += cat(text.empty() ? "" : " || ", "prev_state == 0 || prev_state == ", kPreempted);
    return text;
}

std::string StateSet::to_text() const {
    std::string text;
    for (const TaskState state : kChoices)
        if (has(state)) text += cat(text.empty() ? "" : ",", static_cast<char>(state));
    return text;
}

}  // namespace gpufs
