#include "engine/stall/tracker.h"

#include <algorithm>
#include <utility>

#include "base/kernel_abi.h"
#include "base/sorted.h"

namespace gpufs {

StallTracker::Task* StallTracker::find(int tid) {
    const auto it = tasks_.find(tid);
    return it == tasks_.end() ? nullptr : &it->second;
}

void StallTracker::watch(int tid, int tgid, std::string_view comm, bool alone) {
    Task& task = tasks_[tid];
    task.tid = tid;
    task.tgid = tgid;
    task.comm = comm;
    task.is_alone = alone;
}

void StallTracker::found(int tid, const Stall& blocked) {
    Task* task = find(tid);
    if (!task || task->open) return;
    task->syscall = blocked.syscall;
    task->open = blocked;
    task->open->tid = tid;
    task->open->tgid = task->tgid;
    task->open->comm = task->comm;
    task->open->is_cut = true;
    task->is_unsure = blocked.state == TaskState::runnable;
    task->was_due = false;
}

void StallTracker::switch_out(Task& task, std::uint64_t ns, int cpu, std::uint64_t prev_state) {
    // It ran meanwhile, since when was not seen.
    if (task.open && !task.is_unsure) come_back_unseen(task, ns, cpu);
    task.is_unsure = false;
    task.was_due = false;
    Stall& open = task.open.emplace();
    open.tid = task.tid;
    open.tgid = task.tgid;
    open.comm = task.comm;
    open.state = state_of_switch(prev_state);
    open.begin_ns = ns;
    open.cpu_before = cpu;
    open.syscall = task.syscall;
    if (open.state == TaskState::runnable) open.cpu_waited = cpu;
}

void StallTracker::switch_in(Task& task, std::uint64_t ns, int cpu) {
    const auto early = std::exchange(task.early, std::nullopt);
    if (!task.open) return;
    // It was woken on its way off the CPU, and all the rest was waiting for one.
    if (early && task.open->state != TaskState::runnable && !task.open->hides_losses)
        end_sleep(task, task.open->begin_ns, -1, early);
    Stall stall = std::move(*task.open);
    task.open.reset();
    task.is_unsure = false;
    stall.end_ns = ns;
    stall.cpu_after = cpu;
    stall.wakeup_lost = stall.state != TaskState::runnable;
    if (task.ended) {
        task.ended->cpu_after = cpu;
        task.ended->run_delay_ns = stall.duration_ns();
        finish(std::move(*task.ended));
        task.ended.reset();
    }
    if (stall.state == TaskState::runnable && stall.cpu_waited < 0) stall.cpu_waited = cpu;
    finish(std::move(stall));
}

void StallTracker::come_back_unseen(Task& task, std::uint64_t ns, int cpu) {
    task.open->is_end_late = true;
    switch_in(task, ns, cpu);
}

// Kernels were seen to leave out a switch now and then, with nothing lost: on Linux 6.18 with both
// CPUs busy, one in 500.
void StallTracker::on_run(std::uint64_t ns, int cpu, int pid) {
    Task* task = find(pid);
    if (task && task->open && !task->is_unsure && ns > task->open->begin_ns)
        come_back_unseen(*task, ns, cpu);
}

// From here on it waits for a CPU.
void StallTracker::end_sleep(Task& task, std::uint64_t ns, int target_cpu,
                             std::optional<Waker> waker) {
    Stall& sleep = *task.open;
    sleep.end_ns = ns;
    sleep.waker = std::move(waker);
    Stall wait;
    wait.tid = sleep.tid;
    wait.tgid = sleep.tgid;
    wait.comm = sleep.comm;
    wait.state = TaskState::runnable;
    wait.begin_ns = ns;
    wait.cpu_before = sleep.cpu_before;
    wait.cpu_waited = target_cpu;
    wait.syscall = sleep.syscall;
    wait.call_texts = sleep.call_texts;
    wait.waker = sleep.waker;
    wait.after = sleep.state;
    task.ended = std::move(sleep);
    task.open = std::move(wait);
    task.was_due = false;
    task.early.reset();
}

void StallTracker::on_switch(std::uint64_t ns, int cpu, Side prev, std::uint64_t prev_state,
                             Side next) {
    last_out_[cpu] = prev.pid;
    if (Task* task = find(prev.pid)) {
        task->comm = prev.comm;
        switch_out(*task, ns, cpu, prev_state);
    }
    if (Task* task = find(next.pid)) {
        task->comm = next.comm;
        switch_in(*task, ns, cpu);
    }
}

void StallTracker::on_stack(int cpu, int pid, std::vector<std::uint64_t> stack,
                            std::vector<Frame> user) {
    Task* task = find(pid);
    if (!task || !task->open || last_out_[cpu] != pid) return;
    task->open->stack = std::move(stack);
    task->open->user_stack = std::move(user);
}

void StallTracker::on_waking(std::uint64_t ns, int pid, int target_cpu, Waker waker) {
    Task* task = find(pid);
    if (!task) return;
    if (const Task* known = find(waker.pid); known && waker.comm.empty()) waker.comm = known->comm;
    if (task->open && !task->is_unsure && task->open->state != TaskState::runnable)
        end_sleep(*task, ns, target_cpu, std::move(waker));
    else
        task->early = std::move(waker);
}

// A task may be woken while it is on its way off the CPU: then its waking stands before its
// switch-out, and only this event, where it is recorded, behind it.
void StallTracker::on_wakeup(std::uint64_t ns, int pid, int target_cpu) {
    Task* task = find(pid);
    if (!task || !task->open || task->is_unsure) return;
    if (task->open->state != TaskState::runnable)
        end_sleep(*task, ns, target_cpu, std::exchange(task->early, std::nullopt));
    else
        task->open->cpu_waited = target_cpu;
}

void StallTracker::on_syscall_enter(int pid, const SyscallRef& call) {
    if (Task* task = find(pid)) task->syscall = {SyscallState::Known::yes, call};
}

void StallTracker::on_syscall_exit(int pid) {
    if (Task* task = find(pid)) task->syscall = {SyscallState::Known::none, {}};
}

void StallTracker::forget_syscalls() {
    is_told_syscalls_ = false;
    for (auto& [tid, task] : tasks_) task.syscall.known = SyscallState::Known::no;
}

void StallTracker::on_newtask(int parent, int pid, std::string_view comm,
                              std::uint64_t clone_flags) {
    const Task* starter = find(parent);
    if (!starter) return;
    const bool is_thread = (clone_flags & kCloneThread) != 0;
    if (is_thread ? starter->is_alone : !choice_.children) return;
    const int tgid = is_thread ? starter->tgid : pid;
    tasks_.erase(pid);  // an id may come again
    watch(pid, tgid, comm);
    if (is_told_syscalls_) tasks_[pid].syscall.known = SyscallState::Known::none;
}

bool StallTracker::on_exec(int pid, int old_pid) {
    if (pid == old_pid) return false;
    auto old = tasks_.extract(old_pid);
    if (!old) return false;
    Task& task = tasks_[pid] = std::move(old.mapped());
    task.tid = pid;
    return true;
}

void StallTracker::on_exit(int pid) {
    tasks_.erase(pid);
}

void StallTracker::on_loss(std::uint64_t since_ns) {
    for (auto& [tid, task] : tasks_) {
        if (task.open) task.open->hides_losses = true;
        if (task.ended) task.ended->hides_losses = true;
        task.syscall.known = SyscallState::Known::no;
    }
    for (Stall& stall : ended_)
        if (stall.end_ns >= since_ns) stall.hides_losses = true;
}

void StallTracker::forget_open(int tid) {
    Task* task = find(tid);
    if (!task) return;
    task->open.reset();
    task->ended.reset();
    task->was_due = false;
}

void StallTracker::finish(Stall stall) {
    const std::uint64_t ns = stall.duration_ns();
    if (!choice_.states.has(stall.state))
        count_other(others_, stall);
    else if (ns >= choice_.over_ns && ns != 0)
        ended_.push_back(std::move(stall));
}

void StallTracker::count_other(Others& others, const Stall& stall) const {
    const std::uint64_t ns = stall.duration_ns();
    if (ns < choice_.over_ns || ns == 0 || (stall.is_cut && !stall.is_ongoing)) return;
    Other& other = others[stall.state];
    ++other.count;
    if (stall.is_ongoing) ++other.ongoing;
    if (ns <= other.longest_ns) return;
    other.longest_ns = ns;
    other.is_longest_ongoing = stall.is_ongoing;
}

StallTracker::Others StallTracker::others_until(std::uint64_t now_ns) const {
    Others all = others_;
    for (const auto& [tid, task] : tasks_) {
        if (task.ended && !choice_.states.has(task.ended->state)) count_other(all, *task.ended);
        if (!task.open || task.is_unsure || choice_.states.has(task.open->state)) continue;
        Stall stall = *task.open;
        stall.end_ns = now_ns;
        stall.is_ongoing = true;
        count_other(all, stall);
    }
    return all;
}

std::vector<Stall> StallTracker::take_ended() {
    return std::exchange(ended_, {});
}

bool StallTracker::is_due(const Task& task, std::uint64_t now_ns) const {
    return task.open && !task.is_unsure && choice_.states.has(task.open->state) &&
           task.open->begin_ns + choice_.over_ns <= now_ns;
}

std::vector<Stall*> StallTracker::due(std::uint64_t now_ns) {
    std::vector<Stall*> stalls;
    for (auto& [tid, task] : tasks_) {
        if (task.was_due || !is_due(task, now_ns)) continue;
        task.was_due = true;
        stalls.push_back(&*task.open);
    }
    sort_stably(stalls, {}, [](const Stall* s) { return std::pair(s->begin_ns, s->tid); });
    return stalls;
}

std::optional<std::uint64_t> StallTracker::next_due() const {
    std::optional<std::uint64_t> next;
    for (const auto& [tid, task] : tasks_) {
        if (task.was_due || !is_due(task, ~std::uint64_t{0} >> 1)) continue;
        const std::uint64_t at = task.open->begin_ns + choice_.over_ns;
        if (!next || at < *next) next = at;
    }
    return next;
}

Stall* StallTracker::open_stall(int tid) {
    Task* task = find(tid);
    const bool is_wanted =
        task && task->open && !task->is_unsure && choice_.states.has(task->open->state);
    return is_wanted ? &*task->open : nullptr;
}

std::optional<std::uint64_t> StallTracker::oldest_open(TaskState state) const {
    std::optional<std::uint64_t> oldest;
    for (const auto& [tid, task] : tasks_)
        if (task.open && !task.is_unsure && task.open->state == state)
            oldest = std::min(oldest.value_or(task.open->begin_ns), task.open->begin_ns);
    return oldest;
}

std::vector<Stall> StallTracker::ongoing(std::uint64_t now_ns) const {
    std::vector<Stall> stalls;
    const auto add = [&](Stall stall) {
        if (stall.duration_ns() >= choice_.over_ns && choice_.states.has(stall.state))
            stalls.push_back(std::move(stall));
    };
    for (const auto& [tid, task] : tasks_) {
        if (task.ended) {  // over; only its CPU is not known yet
            add(*task.ended);
        }
        if (!is_due(task, now_ns)) continue;
        Stall stall = *task.open;
        stall.end_ns = now_ns;
        stall.is_ongoing = true;
        add(std::move(stall));
    }
    sort_stably(stalls, {}, [](const Stall& s) { return std::pair(s.begin_ns, s.tid); });
    return stalls;
}

}  // namespace gpufs
