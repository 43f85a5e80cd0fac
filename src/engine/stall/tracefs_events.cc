#include "engine/stall/tracefs_events.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/kernel_abi.h"
#include "engine/trace/raw_buffer.h"
#include "lang/event/field_value.h"

namespace gpufs {
namespace {

constexpr unsigned kInInterrupt = kTraceHardirq | kTraceSoftirq | kTraceNmi;

struct StallEvent {
    const char* name;
    bool is_needed;
    bool for_waits = false;  // tells only on which CPU a task waits
    bool is_syscall = false;
};
// raw_syscalls, because one event says what 350 events do, and as /proc/PID/syscall says it.
constexpr StallEvent kStallEvents[] = {
    {"task:task_newtask", true},
    {"sched:sched_process_exec", false},
    {"sched:sched_process_exit", true},
    {"raw_syscalls:sys_exit", false, false, true},
    {"raw_syscalls:sys_enter", false, false, true},
    {"sched:sched_wakeup", true, true},
    {"sched:sched_waking", true},
    {"sched:sched_switch", true},
};

void enable(const Tracefs& instance, const std::string& event) {
    instance.write(event_directory(event) + "/enable", "1\n", Write::replace);
}

int pid_of(const Field& field, RecordBytes record) {
    return static_cast<int>(static_cast<std::int64_t>(integer_of(field, record)));
}

// Of sched_switch. Without the "!" that removes it.
std::string stack_trigger(const StateSet& states) {
    return cat("stacktrace if ", states.condition(), "\n");
}

// The addresses from an offset of the record on, up to its end or the stack's: the array is as long
// as the stack is, whatever the format file says.
std::vector<std::uint64_t> stack_from(std::size_t at, RecordBytes bytes) {
    std::vector<std::uint64_t> stack;
    for (; at + sizeof(long) <= bytes.size(); at += sizeof(long)) {
        unsigned long address = 0;
        std::memcpy(&address, bytes.data() + at, sizeof address);
        if (address == 0 || address == ~0ul) break;
        stack.push_back(address);
    }
    return stack;
}

// Arguments that the record does not have are 0.
SyscallRef syscall_of(long number, RecordBytes args) {
    SyscallRef call;
    call.nr = number;
    for (std::size_t i = 0; i < call.args.size(); ++i) {
        unsigned long value = 0;
        if ((i + 1) * sizeof value <= args.size())
            std::memcpy(&value, args.data() + i * sizeof value, sizeof value);
        call.args[i] = value;
    }
    return call;
}

}  // namespace

void prepare_buffer(const Tracefs& instance) {
    instance.write("trace_clock", "mono\n", Write::replace);
    // Before any task is named, so that none can start another unseen.
    if (instance.has("options/event-fork"))
        instance.write("options/event-fork", "1\n", Write::replace);
}

void size_buffer(const Tracefs& instance, std::uint64_t share) {
    constexpr std::uint64_t kLeast = 64 << 10;
    const auto cpus = std::max<std::uint64_t>(1, buffer_cpus(instance).size());
    const std::uint64_t each = std::max(kLeast, share / cpus);
    instance.write("buffer_size_kb", cat(each >> 10, "\n"), Write::replace);
}

void follow_tasks(const Tracefs& instance, const std::vector<int>& tids) {
    // Exactly one separator between two: Linux 5.10 counts a write with a blank before the newline
    // as one byte short.
    std::string text;
    for (const int tid : tids) text += cat(text.empty() ? "" : " ", tid);
    if (!text.empty()) instance.write("set_event_pid", text + "\n", Write::append);
}

void enable_stall_events(const Tracefs& instance, const StateSet& states, Stacks stacks) {
    for (const StallEvent& event : kStallEvents)
        if (event.is_needed && !instance.has(event_directory(event.name)))
            throw UnsupportedError(cat("this kernel has no event ", event.name),
                                   "'gpufs doctor' says what it can do");
    const std::string trigger = event_directory("sched:sched_switch") + "/trigger";
    try {
        if (stacks == Stacks::yes) instance.write(trigger, stack_trigger(states), Write::append);
    } catch (const SysError& e) {
        throw UnsupportedError("this kernel does not take a stack where a task is switched out",
                               "it was built without CONFIG_STACKTRACE; 'gpufs doctor' says more",
                               e.what());
    }
    for (const StallEvent& event : kStallEvents)
        if (instance.has(event_directory(event.name)) &&
            (!event.for_waits || states.has(TaskState::runnable)))
            enable(instance, event.name);
}

void disable_stall_events(const Tracefs& instance, const StateSet& states) {
    const auto write = [&](const std::string& file, const std::string& text, Write how) {
        try {
            instance.write(file, text, how);
        } catch (const SysError&) {
            // Not set, or reset by somebody meanwhile: nothing of ours is left.
        }
    };
    for (const StallEvent& event : kStallEvents)
        write(event_directory(event.name) + "/enable", "0\n", Write::replace);
    write(event_directory("sched:sched_switch") + "/trigger", "!" + stack_trigger(states),
          Write::append);
    write("set_event_pid", "\n", Write::replace);
}

void disable_syscall_events(const Tracefs& instance) {
    for (const StallEvent& event : kStallEvents)
        if (event.is_syscall && instance.has(event_directory(event.name)))
            instance.write(event_directory(event.name) + "/enable", "0\n", Write::replace);
}

void enable_run_events(const Tracefs& instance) {
    enable(instance, "sched:sched_switch");
}

StallReader::StallReader(Events& events, StallTracker& tracker) : tracker_(tracker) {
    using enum Kind;
    add(events, "sched", "sched_switch", change,
        {"prev_pid", "prev_comm", "prev_state", "next_pid", "next_comm"});
    add(events, "ftrace", "kernel_stack", stack, {"caller"});
    add(events, "sched", "sched_waking", waking, {"pid", "target_cpu"});
    add(events, "sched", "sched_wakeup", wakeup, {"pid", "target_cpu"});
    add(events, "raw_syscalls", "sys_enter", syscall_enter, {"id", "args"}, true);
    add(events, "raw_syscalls", "sys_exit", syscall_exit, {}, true);
    add(events, "task", "task_newtask", newtask, {"pid", "comm", "clone_flags"});
    add(events, "sched", "sched_process_exec", exec, {"pid", "old_pid"}, true);
    add(events, "sched", "sched_process_exit", exit, {"pid"});
    const TraceEvent* any = events.find("sched:sched_switch");
    common_pid_ = *any->format.find("common_pid");
    common_flags_ = *any->format.find("common_flags");
}

void StallReader::add(Events& events, std::string_view system, std::string_view name, Kind kind,
                      std::vector<std::string_view> fields, bool is_optional) {
    const TraceEvent* event = events.find(cat(system, ':', name));
    if (!event) {
        if (is_optional) return;
        throw UnsupportedError(cat("this kernel has no event ", system, ":", name));
    }
    const auto id = static_cast<std::size_t>(event->format.id);
    if (id >= plans_.size()) plans_.resize(id + 1);
    Plan plan;
    plan.kind = kind;
    const Field** slots[] = {&plan.a, &plan.b, &plan.c, &plan.d, &plan.e};
    for (std::size_t i = 0; i < fields.size(); ++i) {
        *slots[i] = event->format.find(fields[i]);
        if (!*slots[i])
            throw UnsupportedError(
                cat(event->format.full_name(), " has no field '", fields[i], "' in this kernel"));
    }
    plans_[id] = plan;
}

void StallReader::read(const TraceRecord& record) {
    std::uint64_t& last = last_ns_[record.cpu];
    if (!record.lost_before.is_zero()) tracker_.on_loss(last);
    last = record.timestamp;
    const auto id = static_cast<std::size_t>(record.id());
    if (id >= plans_.size()) return;
    const Plan& p = plans_[id];
    const RecordBytes bytes = record.bytes;
    const auto pid = [&] { return pid_of(common_pid_, bytes); };
    // Whoever records an event runs. A stack stands behind the switch-out that it belongs to.
    if (p.kind != Kind::change && p.kind != Kind::stack)
        tracker_.on_run(record.timestamp, record.cpu, pid());
    switch (p.kind) {
        case Kind::other:
            return;
        case Kind::change:
            return tracker_.on_switch(
                record.timestamp, record.cpu, {pid_of(*p.a, bytes), text_of(*p.b, bytes)},
                integer_of(*p.c, bytes), {pid_of(*p.d, bytes), text_of(*p.e, bytes)});
        case Kind::stack: {
            if (!tracker_.watches(pid())) return;
            return tracker_.on_stack(record.cpu, pid(), stack_from(p.a->offset, bytes));
        }
        case Kind::waking:
            return tracker_.on_waking(
                record.timestamp, pid_of(*p.a, bytes), pid_of(*p.b, bytes),
                {pid(), {}, (integer_of(common_flags_, bytes) & kInInterrupt) != 0});
        case Kind::wakeup:
            return tracker_.on_wakeup(record.timestamp, pid_of(*p.a, bytes), pid_of(*p.b, bytes));
        case Kind::syscall_enter: {
            if (!tracker_.watches(pid())) return;
            return tracker_.on_syscall_enter(
                pid(),
                syscall_of(static_cast<long>(integer_of(*p.a, bytes)), bytes_of(*p.b, bytes)));
        }
        case Kind::syscall_exit:
            return tracker_.on_syscall_exit(pid());
        case Kind::newtask:
            return tracker_.on_newtask(pid(), pid_of(*p.a, bytes), text_of(*p.b, bytes),
                                       integer_of(*p.c, bytes));
        case Kind::exec:
            if (tracker_.on_exec(pid_of(*p.a, bytes), pid_of(*p.b, bytes)))
                execed_.push_back(pid_of(*p.a, bytes));
            return;
        case Kind::exit:
            return tracker_.on_exit(pid_of(*p.a, bytes));
    }
}

void StallReader::ignore_syscalls() {
    for (Plan& plan : plans_)
        if (plan.kind == Kind::syscall_enter || plan.kind == Kind::syscall_exit)
            plan.kind = Kind::other;
    tracker_.forget_syscalls();
}

std::vector<int> StallReader::take_execed() {
    return std::exchange(execed_, {});
}

RunReader::RunReader(Events& events, CpuOccupancy& log) : log_(log) {
    const TraceEvent* event = events.find("sched:sched_switch");
    if (!event) throw UnsupportedError("this kernel has no event sched:sched_switch");
    id_ = event->format.id;
    prev_pid_ = event->format.find("prev_pid");
    prev_comm_ = event->format.find("prev_comm");
    next_pid_ = event->format.find("next_pid");
    next_comm_ = event->format.find("next_comm");
}

void RunReader::read(const TraceRecord& record) {
    if (record.id() != id_) return;
    const RecordBytes bytes = record.bytes;
    log_.on_switch(record.timestamp, record.cpu,
                   {pid_of(*prev_pid_, bytes), text_of(*prev_comm_, bytes)},
                   {pid_of(*next_pid_, bytes), text_of(*next_comm_, bytes)});
}

}  // namespace gpufs
