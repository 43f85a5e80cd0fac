#include "view/stall/text.h"

#include <algorithm>

#include "base/cat.h"
#include "lang/symbols/probe_functions.h"
#include "view/duration.h"
#include "view/json.h"
#include "view/trace/frame_text.h"
#include "view/trace/kernel_text.h"

namespace gpufs {
namespace {

// Every sleep goes through these.
bool is_scheduler(std::string_view function) {
    return function == "__schedule" || function == "schedule" || function == "__schedule_loop" ||
           function.starts_with("schedule_") || function.starts_with("io_schedule") ||
           function.starts_with("preempt_schedule") || function.starts_with("__cond_resched");
}

// Every system call and thread begins in these.
bool is_entry(std::string_view function) {
    return function.starts_with("entry_") || function.starts_with("do_syscall_") ||
           function.starts_with("x64_sys_call") || function.starts_with("el0") ||
           function.starts_with("do_el0_") || function.starts_with("ret_from_fork") ||
           function.starts_with("invoke_syscall");
}

constexpr std::size_t kIndent = 20, kLabel = 8;

// Appends lines below the first one of a stall.
class Lines {
public:
    Lines(std::string& out, Controls controls) : out_(out), controls_(controls) {}
    void add(std::string_view label, std::string_view text) {
        out_ += cat(std::string(kIndent, ' '), label, std::string(kLabel - label.size(), ' '),
                    printable(text, controls_), "\n");
    }

private:
    std::string& out_;
    Controls controls_;
};

std::string waker_text(const Waker& waker) {
    if (!waker.from_interrupt) return cat("by ", task_text(waker.comm, waker.pid));
    if (waker.pid == 0) return "from an interrupt, on an idle CPU";
    return cat("from an interrupt, while ", task_text(waker.comm, waker.pid), " ran there");
}

std::string cpu_text(const Stall& stall) {
    const auto name = [](int cpu) { return cpu < 0 ? std::string("?") : cat(cpu); };
    std::string text = cat(name(stall.cpu_before), " -> ", name(stall.cpu_after));
    if (stall.run_delay_ns > 0)
        text += cat(", ", duration_text(stall.run_delay_ns), " after the wake-up");
    return text;
}

std::string meanwhile_text(const Stall& stall) {
    constexpr std::size_t kMost = 5;
    std::string text = cat("on CPU ", stall.cpu_waited, ":");
    for (std::size_t i = 0; i < std::min(kMost, stall.ran_meanwhile.size()); ++i) {
        const CpuUse& use = stall.ran_meanwhile[i];
        text += cat(i == 0 ? " " : ", ", use.pid == 0 ? "idle" : task_text(use.comm, use.pid), " ",
                    duration_text(use.ns));
    }
    if (stall.ran_meanwhile.size() > kMost)
        text += cat(", and ", stall.ran_meanwhile.size() - kMost, " more");
    return text;
}

void add_notes(Lines& lines, const Stall& stall) {
    if (stall.is_cut && stall.is_ongoing && stall.duration_ns() == 0)
        lines.add("note", "blocked already when gpufs came");
    else if (stall.is_cut)
        lines.add("note", "blocked already when gpufs came: it lasted longer");
    if (stall.is_ongoing && !(stall.is_cut && stall.duration_ns() == 0))
        lines.add("note", "still blocked");
    if (stall.wakeup_lost)
        lines.add("note", "its wake-up was not seen: this is the time until it ran");
    else if (stall.is_end_late)
        lines.add("note", "its switch to a CPU was not seen: it may have been shorter");
    if (stall.hides_losses)
        lines.add("note", "events were lost meanwhile: it may be more than one stall");
}

std::vector<std::string> user_functions(const Stall& stall) {
    std::vector<std::string> functions;
    for (const Frame& frame : stall.user_stack) functions.push_back(to_text(frame));
    return functions;
}

std::string cpu_json(int cpu) {
    return cpu < 0 ? "null" : cat(cpu);
}

}  // namespace

std::vector<std::string> stack_functions(const Stall& stall, const AddressNames& names) {
    std::vector<std::string> functions = stall.stack_names;
    if (!stall.stack.empty()) {
        functions.clear();
        for (std::size_t i = 0; i < stall.stack.size(); ++i) {
            std::string name;
            append_frame(name, stall.stack[i], frame_place(i), names, false);
            functions.push_back(std::move(name));
        }
    }
    functions.erase(functions.begin(), std::ranges::find_if_not(functions, is_probe_function));
    return functions;
}

std::vector<std::string> stack_in_short(const std::vector<std::string>& functions,
                                        std::size_t most) {
    const auto first = std::ranges::find_if_not(functions, is_scheduler);
    auto last = functions.end();
    while (last != first && is_entry(*(last - 1))) --last;
    const auto end = first + std::min(last - first, static_cast<std::ptrdiff_t>(most));
    return {first, end};
}

std::string task_text(std::string_view comm, int pid) {
    return cat(comm, "-", pid);
}

std::string StallText::syscall(const Stall& stall) {
    switch (stall.syscall.known) {
        case SyscallState::Known::none:
            return "no system call";
        case SyscallState::Known::yes:
            return cat(syscalls_.name(stall.syscall.call.nr), "(",
                       syscalls_.arguments(stall.syscall.call, stall.call_texts), ")");
        case SyscallState::Known::no:
            break;
    }
    return "system call not known";
}

std::string StallText::print(const Stall& stall) {
    std::string duration = duration_text(stall.duration_ns());
    if (stall.is_cut || stall.is_ongoing)
        duration = stall.duration_ns() == 0 ? "..." : cat("> ", duration);
    constexpr std::size_t kDuration = 10;
    std::string out = cat(wall_clock_text(stall.begin_ns), "  ", static_cast<char>(stall.state),
                          "  ", std::string(kDuration - std::min(kDuration, duration.size()), ' '),
                          duration, "  ", task_text(stall.comm, stall.tid));
    if (stall.tgid != 0 && stall.tgid != stall.tid) out += cat(" (process ", stall.tgid, ")");
    out += cat("  ", syscall(stall));
    make_printable(out, 0, context_.controls);
    out += '\n';
    Lines lines(out, context_.controls);
    if (stall.file)
        lines.add("file", cat(stall.file->path, " (fd ", stall.file->fd,
                              stall.file->is_verified ? ")" : "; seen afterwards, unverified)"));
    if (stall.after)
        lines.add("after", cat("a sleep in ", static_cast<char>(*stall.after)));
    else if (stall.state == TaskState::runnable)
        lines.add("after", "it was taken off the CPU");
    if (stall.waker) lines.add("woken", waker_text(*stall.waker));
    if (stall.cpu_before >= 0 || stall.cpu_after >= 0) lines.add("cpu", cpu_text(stall));
    if (!stall.ran_meanwhile.empty()) lines.add("ran", meanwhile_text(stall));
    add_notes(lines, stall);
    std::string_view label = "stack";
    for (const std::string& function : stack_functions(stall, context_.addresses)) {
        lines.add(label, function);
        label = "";
    }
    if (!stall.wchan.empty()) lines.add("waits", cat("in ", stall.wchan));
    label = "user";
    for (const std::string& function : user_functions(stall)) {
        lines.add(label, function);
        label = "";
    }
    return out;
}

std::string stall_json(const Stall& stall, const TraceContext& context, SyscallText& syscalls) {
    JsonObject line;
    line.raw("time", epoch_text(stall.begin_ns))
        .number("begin_ns", stall.begin_ns)
        .number("duration_ns", stall.duration_ns())
        .text("state", std::string(1, static_cast<char>(stall.state)))
        .text("comm", stall.comm)
        .number("tid", stall.tid)
        .number("pid", stall.tgid);
    if (stall.syscall.known == SyscallState::Known::yes) {
        const SyscallRef& call = stall.syscall.call;
        JsonArray raw;
        for (const std::uint64_t arg : call.args) raw.add_number(arg);
        line.raw("syscall", JsonObject()
                                .number("nr", call.nr)
                                .text("name", syscalls.name(call.nr))
                                .text("arguments", syscalls.arguments(call, stall.call_texts))
                                .raw("args", raw.done())
                                .done());
    } else if (stall.syscall.known == SyscallState::Known::none) {
        line.null("syscall");
    }
    JsonObject file, waker;
    if (stall.file)
        file.number("fd", stall.file->fd)
            .text("path", stall.file->path)
            .boolean("verified", stall.file->is_verified);
    if (stall.waker)
        waker.text("comm", stall.waker->comm)
            .number("tid", stall.waker->pid)
            .boolean("interrupt", stall.waker->from_interrupt);
    line.raw("file", stall.file ? file.done() : "null")
        .raw("waker", stall.waker ? waker.done() : "null")
        .raw("cpu_before", cpu_json(stall.cpu_before))
        .raw("cpu_after", cpu_json(stall.cpu_after))
        .number("run_delay_ns", stall.run_delay_ns)
        .text_or_null("after", stall.after ? std::string(1, static_cast<char>(*stall.after)) : "");
    JsonArray ran;
    for (const CpuUse& use : stall.ran_meanwhile)
        ran.add(JsonObject()
                    .text("comm", use.comm)
                    .number("tid", use.pid)
                    .number("ran_ns", use.ns)
                    .done());
    line.raw("cpu_waited", stall.ran_meanwhile.empty() ? "null" : cpu_json(stall.cpu_waited))
        .raw("ran", ran.done())
        .raw("stack", json_texts_or_null(stack_functions(stall, context.addresses)))
        .raw("user_stack", json_texts_or_null(user_functions(stall)))
        .text_or_null("wchan", stall.wchan)
        .boolean("cut", stall.is_cut)
        .boolean("ongoing", stall.is_ongoing)
        .boolean("wakeup_lost", stall.wakeup_lost)
        .boolean("end_late", stall.is_end_late)
        .boolean("events_lost", stall.hides_losses);
    return line.done();
}

}  // namespace gpufs
