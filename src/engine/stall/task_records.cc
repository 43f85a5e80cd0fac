#include "engine/stall/task_records.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/kernel_abi.h"

namespace gpufs {
namespace {

constexpr std::uint32_t kNoCall = 1, kInCall = 2, kInCallInOrder = 3;

SyscallRef call_of(const TaskRecord& record) {
    SyscallRef call;
    call.nr = static_cast<long>(record.call);
    constexpr CallArguments kArguments = call_arguments();
    const bool in_order = record.call_is == kInCallInOrder;
    for (std::size_t i = 0; i < call.args.size(); ++i)
        call.args[i] = record.arguments[in_order ? i : kArguments.order[i]];
    return call;
}

Waker waker_of(const TaskRecord& record) {
    // The idle tasks have many names.
    return {static_cast<int>(record.waker),
            std::string(record.waker == 0 ? "" : up_to_nul(record.waker_comm)),
            record.from_interrupt != 0};
}

}  // namespace

void TaskRecords::tell(const TaskRecord& r, Told& told, std::vector<Frame> user) {
    const int tid = static_cast<int>(r.tid);
    const auto waking = [&] {
        tracker_.on_waking(r.waking, tid, static_cast<int>(r.target_cpu), waker_of(r));
        told.waking = true;
    };
    if (r.out != told.out) {
        told = {told.number, r.out};
        if (r.call_is == kInCall || r.call_is == kInCallInOrder)
            tracker_.on_syscall_enter(tid, call_of(r));
        if (r.call_is == kNoCall) tracker_.on_syscall_exit(tid);
        if (r.waking != 0 && r.waking < r.out) waking();
        const int cpu = static_cast<int>(r.cpu_before);
        tracker_.on_switch(r.out, cpu, {tid, up_to_nul(r.comm)}, r.state, {0, {}});
        const auto frames =
            std::min(r.stack.size(), static_cast<std::size_t>(std::max(0, r.stack_bytes)) / 8);
        if (frames != 0)
            tracker_.on_stack(
                cpu, tid, {r.stack.begin(), r.stack.begin() + static_cast<std::ptrdiff_t>(frames)},
                std::move(user));
    }
    if (r.waking != 0 && !told.waking) waking();
    if (r.wakeup != 0 && !told.wakeup) {
        tracker_.on_wakeup(r.wakeup, tid, static_cast<int>(r.wakeup_cpu));
        told.wakeup = true;
    }
}

void TaskRecords::take(const TaskRecord& record, std::vector<Frame> user) {
    const int tid = static_cast<int>(record.tid);
    Told& told = told_[tid];
    tell(record, told, std::move(user));
    const int cpu = static_cast<int>(record.cpu_after);
    if (record.flags & TaskRecord::kLate)
        tracker_.on_run(record.back, cpu, tid);
    else
        tracker_.on_switch(record.back, cpu, {0, {}}, 0, {tid, up_to_nul(record.comm)});
    told = {record.number};
}

bool TaskRecords::knows(const TaskRecord& kept) const {
    const auto it = told_.find(static_cast<int>(kept.tid));
    return it != told_.end() && it->second.number == kept.number && it->second.out == kept.out &&
           it->second.waking == (kept.waking != 0);
}

void TaskRecords::look(const TaskRecord& kept, std::vector<Frame> user) {
    Told& told = told_[static_cast<int>(kept.tid)];
    if (kept.out != 0 && told.number == kept.number) tell(kept, told, std::move(user));
}

void TaskRecords::resume(const TaskRecord& kept, std::uint64_t now_ns) {
    Told& told = told_[static_cast<int>(kept.tid)];
    if (told.number == kept.number) return;
    // It was on a CPU at least for the moment that was not told.
    tracker_.on_run(now_ns, -1, static_cast<int>(kept.tid));
    told = {kept.number};
}

void TaskRecords::forget_unsent(const TaskRecord& kept) {
    const int tid = static_cast<int>(kept.tid);
    const auto it = told_.find(tid);
    if (it == told_.end() || it->second.number != kept.number) return;
    if (it->second.out == 0 || it->second.out == kept.out) return;
    tracker_.forget_open(tid);
    it->second = {kept.number};
}

void TaskRecords::take_newtask(int parent, int tid, std::string_view comm,
                               std::uint64_t clone_flags) {
    told_.erase(tid);
    tracker_.on_newtask(parent, tid, comm, clone_flags);
}

void TaskRecords::take_exec(int tid, int old_tid) {
    if (const auto old = told_.find(old_tid); old != told_.end()) {
        told_[tid] = old->second;
        told_.erase(old_tid);
    }
    if (tracker_.on_exec(tid, old_tid)) execed_.push_back(tid);
}

void TaskRecords::take_exit(int tid) {
    told_.erase(tid);
    tracker_.on_exit(tid);
}

std::vector<int> TaskRecords::take_execed() {
    return std::exchange(execed_, {});
}

}  // namespace gpufs
