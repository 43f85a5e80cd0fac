#include "engine/monitor/recorded_tasks.h"

#include "base/cat.h"
#include "base/kernel_abi.h"
#include "lang/event/field_value.h"

namespace gpufs {

RecordedTasks::RecordedTasks(TraceContext& context)
    : context_(context),
      sees_changes_(context.events.find("sched:sched_process_exec") ||
                    context.events.find("task:task_rename")) {}

RecordedTasks::Task& RecordedTasks::task(std::uint32_t tid) {
    const auto [it, is_new] = tasks_.try_emplace(tid);
    if (!is_new) return it->second;
    Task& made = it->second;
    made.comm = context_.tasks.comm(static_cast<int>(tid));
    const int process = context_.tasks.tgid(static_cast<int>(tid));
    made.is_process_known = process != 0;
    made.process = made.is_process_known ? static_cast<std::uint32_t>(process) : tid;
    return made;
}

const RecordedTasks::Task& RecordedTasks::find(std::uint32_t tid, int cpu) {
    if (tid != 0) return tid == named_tid_ ? named_ : task(tid);
    const auto [it, is_new] = idle_.try_emplace(cpu);
    if (is_new) it->second = {cat("swapper/", cpu), 0, true};
    return it->second;
}

void RecordedTasks::set_process(std::uint32_t tid, std::uint32_t process) {
    Task& of = task(tid);
    of.process = process;
    of.is_process_known = true;
}

RecordedTasks::Told RecordedTasks::told_by(int id) const {
    const TraceEvent* const event = context_.events.find(id);
    if (!event) return {};
    return {TaskNaming::of(event->format), event->format.find("clone_flags")};
}

void RecordedTasks::take(const TraceRecord& record, bool is_after) {
    const Told& told = told_.get(record.id(), [this](int id) { return told_by(id); });
    if (told.namings.empty()) return;
    const auto running = static_cast<std::uint32_t>(common_fields(record.bytes).pid);
    for (const TaskNaming& naming : told.namings) {
        if (naming.is_after() != is_after) continue;
        const std::uint32_t tid = naming.tid(record.bytes);
        if (tid == 0) continue;
        set_name(tid, naming.comm(record.bytes), running);
        if (naming.is_exec()) set_process(tid, tid);
        if (told.clone_flags)
            set_process_of_new(tid, integer_of(*told.clone_flags, record.bytes), running);
    }
}

void RecordedTasks::set_name(std::uint32_t tid, std::string_view name, std::uint32_t running) {
    Task& named = task(tid);
    if (sees_changes_ || named.comm == TaskNames::kUnknown) {
        if (named.comm != name) named.comm = name;
    } else if (tid == running) {
        named_ = named;
        named_.comm = name;
        named_tid_ = tid;
    }
}

void RecordedTasks::set_process_of_new(std::uint32_t tid, std::uint64_t clone_flags,
                                       std::uint32_t running) {
    const Task parent = task(running);
    if ((clone_flags & kCloneThread) == 0)
        set_process(tid, tid);
    else if (parent.is_process_known)
        set_process(tid, parent.process);
}

}  // namespace gpufs
