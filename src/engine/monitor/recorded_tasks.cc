#include "engine/monitor/recorded_tasks.h"

#include "base/cat.h"
#include "base/kernel_abi.h"
#include "base/path.h"
#include "lang/event/field_value.h"
#include "lang/event/naming_events.h"

namespace gpufs {
namespace {

// What TaskNames says of a task that it does not know.
constexpr std::string_view kUnknown = "<...>";

std::uint32_t number_of(const Field& field, RecordBytes record) {
    return static_cast<std::uint32_t>(integer_of(field, record));
}

}  // namespace

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

std::vector<RecordedTasks::Naming> RecordedTasks::find_namings(int id) {
    std::vector<Naming> found;
    const TraceEvent* event = context_.events.find(id);
    if (!event) return found;
    const EventFormat& format = event->format;
    const std::string name = format.full_name();
    for (const NamingEvent& one : kNamingEvents) {
        if (one.event != name) continue;
        Naming naming;
        naming.tid = format.find(one.tid);
        naming.comm = format.find(one.comm);
        naming.clone_flags = format.find("clone_flags");
        naming.is_after = one.is_after;
        if (naming.comm) found.push_back(naming);
    }
    if (name == "sched:sched_process_exec") {
        Naming naming;
        naming.tid = format.find("pid");
        naming.file = format.find("filename");
        naming.is_whole_process = true;
        if (naming.file) found.push_back(naming);
    }
    return found;
}

void RecordedTasks::take(const TraceRecord& record, bool is_after) {
    const auto running = static_cast<std::uint32_t>(common_fields(record.bytes).pid);
    const auto find = [&](int id) { return find_namings(id); };
    for (const Naming& naming : namings_.get(record.id(), find))
        if (naming.is_after == is_after) apply(naming, record, running);
}

void RecordedTasks::apply(const Naming& naming, const TraceRecord& record, std::uint32_t running) {
    const std::uint32_t tid = naming.tid ? number_of(*naming.tid, record.bytes) : running;
    if (tid == 0) return;
    std::string_view name = text_of(naming.comm ? *naming.comm : *naming.file, record.bytes);
    if (naming.file) name = file_name(name).substr(0, kCommBytes - 1);
    Task& named = task(tid);
    if (sees_changes_ || named.comm == kUnknown) {
        if (named.comm != name) named.comm = name;
    } else if (tid == running) {
        named_ = named;
        named_.comm = name;
        named_tid_ = tid;
    }
    if (naming.is_whole_process) set_process(tid, tid);
    if (!naming.clone_flags) return;
    const bool is_thread = (integer_of(*naming.clone_flags, record.bytes) & kCloneThread) != 0;
    const Task parent = task(running);
    if (!is_thread)
        set_process(tid, tid);
    else if (parent.is_process_known)
        set_process(tid, parent.process);
}

}  // namespace gpufs
