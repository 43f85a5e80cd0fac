#include "view/trace/kernel_text.h"

#include <algorithm>
#include <cstring>

#include "base/cat.h"
#include "base/kernel_abi.h"
#include "lang/event/resched_letters.h"
#include "lang/print_fmt/kernel_printf.h"
#include "view/trace/padded.h"
#include "view/trace/record_bytes.h"

namespace gpufs {
namespace {

// A place in a stack where ftrace's own code was (kernel/trace/trace.h).
constexpr std::uint64_t kTrampoline = 0x7fffffff;

template <class T>
T load(RecordBytes bytes, std::size_t at) {
    T value{};
    if (at <= bytes.size() && sizeof value <= bytes.size() - at)
        std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

std::uint64_t word_of(const Field* field, RecordBytes record) {
    return field ? load<std::uint64_t>(record, field->offset) : 0;
}

// Up to five characters; returns the end.
char* put_irq_info(char* to, const CommonFields& common, const TraceOptions& options) {
    const bool lazy = options.resched_lazy;
    const auto has = [&](unsigned flag) { return (common.flags & flag) != 0; };
    char irqs = '.';
    if (has(kTraceIrqsOff))
        irqs = has(kTraceBhOff) ? 'D' : 'd';
    else if (has(kTraceBhOff))
        irqs = 'b';
    else if (!lazy && has(kTraceReschedLazy))
        irqs = 'X';
    const char resched = kReschedLetters[(has(kTraceNeedResched) ? 1u : 0u) |
                                         (lazy && has(kTraceReschedLazy) ? 2u : 0u) |
                                         (has(kTracePreemptResched) ? 4u : 0u)];
    char context = '.';
    if (has(kTraceNmi))
        context = has(kTraceHardirq) ? 'Z' : 'z';
    else if (has(kTraceHardirq))
        context = has(kTraceSoftirq) ? 'H' : 'h';
    else if (has(kTraceSoftirq))
        context = 's';
    constexpr std::string_view kDepth = ".123456789abcdef";
    *to++ = irqs;
    *to++ = resched;
    *to++ = context;
    // Before it knew migration, the kernel counted preemption further.
    const auto low = common.preempt_count & 15, high = common.preempt_count >> 4 & 15;
    if (!options.migrate_disable && high != 0) {
        *to++ = kDepth[high];
        *to++ = low == 0 ? '0' : kDepth[low];
        return to;
    }
    *to++ = kDepth[low];
    if (options.migrate_disable) *to++ = kDepth[high];
    return to;
}

void append_hex(std::string& out, std::uint64_t value) {
    append_number(out, value, {.base = 16});
}

// The print fmt of a dynamic probe, without the place in front of it and with strings as the kernel
// prints them. `values` is how many values the place took.
//   "(%lx) name=\"%s\" n=%u", REC->__probe_ip, __get_str(name), REC->n
std::string probe_arguments(std::string text, std::string_view place, std::size_t values) {
    if (const auto at = text.find(place); at != text.npos) text.erase(at, place.size());
    auto quote = text.find('"', 1);
    while (quote != text.npos && text[quote - 1] == '\\') quote = text.find('"', quote + 1);
    for (; quote != text.npos && values > 0; --values) {
        const auto comma = text.find(',', quote + 1);
        if (comma == text.npos) break;
        const auto next = text.find(',', comma + 1);
        text.erase(comma, next == text.npos ? next : next - comma);
    }
    const auto replace_all = [&](std::string_view from, std::string_view to) {
        for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
            text.replace(at, from.size(), to);
    };
    replace_all("\\\"%s\\\"", "%s");
    replace_all("__get_str(", "__probe_str(");
    return text;
}

}  // namespace

void append_irq_info(std::string& out, const CommonFields& common, const TraceOptions& options) {
    char text[5];
    out.append(text, put_irq_info(text, common, options));
}

void append_comm(std::string& out, std::string_view comm, Controls controls) {
    constexpr std::size_t kWidth = 16;
    const std::size_t start = out.size();
    append_printable(out, comm, controls);
    const std::size_t has = out.size() - start;
    if (has < kWidth) out.insert(start, kWidth - has, ' ');
}

void make_line_printable(std::string& out, std::size_t start, Controls controls) {
    const bool is_ended = out.size() > start && out.back() == '\n';
    if (is_ended) out.pop_back();
    make_printable(out, start, controls);
    if (is_ended) out += '\n';
}

int process_of(const TraceContext& context, const TraceRecord& record) {
    const int tid = common_fields(record.bytes).pid, process = context.tasks.tgid(tid);
    return process == 0 ? tid : process;
}

AddressNames user_names(const TraceContext& context, const TraceRecord& record, bool is_user) {
    return is_user ? context.addresses.of_process(process_of(context, record)) : AddressNames();
}

void append_frame(std::string& out, std::uint64_t address, FramePlace place,
                  const AddressNames& names, bool with_offset) {
    const auto symbol = names.frame(address, place);
    if (!symbol) {
        append_number(out, address,
                      {.base = 16, .zero = true, .special = true, .width = with_offset ? -1 : 10});
        return;
    }
    if (symbol->is_return_trampoline())
        out += "[unknown/kretprobe'd]";
    else if (!with_offset)
        out += symbol->name;
    else
        append_symbol(out, *symbol, true);
}

void append_function(std::string& out, std::uint64_t address, const AddressNames& names,
                     bool with_offset) {
    append_frame(out, address, FramePlace::innermost, names, with_offset);
}

KernelText::Printer KernelText::make_printer(int id) {
    Printer p;
    p.event = context_.events.find(id);
    if (!p.event) return p;
    const EventFormat& format = p.event->format;
    const auto use = [&](Kind kind, std::initializer_list<std::string_view> fields) {
        p.kind = kind;
        for (const std::string_view name : fields) p.fields.push_back(format.find(name));
    };
    const auto use_own = [&](std::string print_format) {
        EventFormat changed = format;
        changed.print_format = std::move(print_format);
        p.own.emplace(changed);
    };
    p.ftrace = find_ftrace_event(format);
    if (p.ftrace.kind != FtraceKind::none) {
        p.kind = Kind::ftrace;
    } else if (format.system == "syscalls" && format.name.starts_with("sys_enter_")) {
        p.kind = Kind::syscall_enter;
        p.call.emplace(format);
    } else if (format.system == "syscalls" && format.name.starts_with("sys_exit_")) {
        use(Kind::syscall_exit, {"ret"});
    } else if (format.system == "synthetic") {
        p.kind = Kind::event;
        // The kernel separates the fields by a space, the print fmt by a comma, too.
        std::string text = format.print_format;
        for (auto at = text.find(", "); at < text.find('"', 1); at = text.find(", ", at))
            text.erase(at, 1);
        use_own(std::move(text));
    } else if (format.find("__probe_ret_ip")) {
        use(Kind::probe_return, {"__probe_func", "__probe_ret_ip"});
        use_own(probe_arguments(format.print_format, "(%lx <- %lx)", 2));
    } else if (format.find("__probe_ip")) {
        use(Kind::probe, {"__probe_ip"});
        use_own(probe_arguments(format.print_format, "(%lx)", 1));
    } else {
        p.kind = Kind::event;
    }
    return p;
}

void KernelText::print(const TraceRecord& record, std::string& out) {
    if (!record.lost_before.is_zero()) {
        append(out, "CPU:");
        append(out, record.cpu);
        append(out, " [LOST ");
        if (record.lost_before.is_exact()) {
            append(out, record.lost_before.least);
            out += ' ';
        }
        append(out, "EVENTS]\n");
    }
    if (context_.options.mark_cpu_starts) {
        const auto cpu = static_cast<std::size_t>(record.cpu);
        if (cpu >= cpu_started_.size()) cpu_started_.resize(cpu + 1);
        if (!cpu_started_[cpu] && !is_first_)
            out += cat("##### CPU ", record.cpu, " buffer started ####\n");
        cpu_started_[cpu] = true;
        is_first_ = false;
    }
    if (context_.options.context_info) print_context(record, out);
    const std::size_t start = out.size();
    const Printer& p = printers_.get(record.id(), [&](int id) { return make_printer(id); });
    print_event(p, record, out);
    if (!p.ftrace.is_stack()) make_line_printable(out, start, context_.controls);
}

// Every line starts with it, so it is put together in one piece.
void KernelText::print_context(const TraceRecord& record, std::string& out) {
    const CommonFields common = common_fields(record.bytes);
    const TraceOptions& options = context_.options;
    append_comm(out, context_.tasks.comm(common.pid), context_.controls);

    char text[128];
    char* to = text;
    *to++ = '-';
    char* const pid = to;
    if (common.pid < 0) *to++ = '-';
    const auto magnitude = static_cast<std::uint64_t>(std::abs(std::int64_t{common.pid}));
    to = put_padded(to, magnitude, 1, ' ');
    while (to < pid + 8) *to++ = ' ';  // "%-7d "
    if (to[-1] != ' ') *to++ = ' ';
    if (options.record_tgid) {
        const int tgid = context_.tasks.tgid(common.pid);
        *to++ = '(';
        if (tgid == 0)
            to = std::fill_n(to, 7, '-');
        else
            to = put_padded(to, static_cast<std::uint64_t>(tgid), 7, ' ');
        *to++ = ')';
        *to++ = ' ';
    }
    *to++ = '[';
    to = put_padded(to, static_cast<std::uint64_t>(record.cpu), 3, '0');
    *to++ = ']';
    *to++ = ' ';
    if (options.irq_info) to = put_irq_info(to, common, options);
    *to++ = ' ';
    to = options.clock_is_ns ? put_seconds(to, record.timestamp)
                             : put_padded(to, record.timestamp, 12, ' ');
    *to++ = ':';
    *to++ = ' ';
    out.append(text, to);
}

void KernelText::print_address(std::uint64_t address, bool with_offset, std::string& out) {
    if (address == 0) {
        out += '0';
    } else {
        append_function(out, address, context_.addresses, with_offset);
    }
    if (address != 0 && context_.options.sym_addr) {
        out += " <";
        append_pointer(out, address);
        out += '>';
    }
}

void KernelText::print_event(const Printer& p, const TraceRecord& record, std::string& out) {
    const TraceOptions& options = context_.options;
    const RecordBytes bytes = record.bytes;
    const auto word = [&](std::size_t i) { return word_of(p.fields[i], bytes); };
    switch (p.kind) {
        case Kind::unknown:
            out += cat("Unknown type ", record.id(), '\n');
            return;
        case Kind::event:
            out += p.event->format.name;
            out += ": ";
            (p.own ? *p.own : p.event->print()).print(bytes, context_.addresses, out);
            // Events of the tracer end their print fmt themselves.
            if (!out.ends_with('\n') || p.event->format.system != "ftrace") out += '\n';
            return;
        case Kind::syscall_enter:
            p.call->print(bytes, options.syscall_prefix, out);
            out += '\n';
            return;
        case Kind::syscall_exit:
            out += "sys_";
            out += std::string_view(p.event->format.name).substr(sizeof "sys_exit_" - 1);
            out += " -> 0x";
            append_hex(out, word(0));
            out += '\n';
            return;
        case Kind::probe:
        case Kind::probe_return:
            return print_probe(p, bytes, out);
        case Kind::ftrace:
            return print_ftrace(p.ftrace, bytes, out);
    }
}

void KernelText::print_probe(const Printer& p, RecordBytes bytes, std::string& out) {
    const bool returns = p.kind == Kind::probe_return;
    const std::uint64_t at = word_of(p.fields[returns ? 1 : 0], bytes);
    const std::uint64_t function = word_of(p.fields[0], bytes);
    // Kernel addresses have the top bit set; what a uprobe holds has not.
    const bool is_kernel = at >> 63 != 0;
    const auto append_place = [&](std::uint64_t address, bool with_offset) {
        if (is_kernel) return print_address(address, with_offset, out);
        out += "0x";
        append_hex(out, address);
    };
    out += p.event->format.name;
    out += ": (";
    append_place(at, true);
    if (returns) {
        out += " <- ";
        append_place(function, false);
    }
    out += ')';
    p.own->print(bytes, context_.addresses, out);
    out += '\n';
}

void KernelText::print_ftrace(const FtraceEvent& event, RecordBytes bytes, std::string& out) {
    const TraceOptions& options = context_.options;
    const auto word = [&](std::size_t i) { return word_of(event.fields[i], bytes); };
    switch (event.kind) {
        case FtraceKind::none:
            return;
        case FtraceKind::function:
            print_address(word(0), options.sym_offset, out);
            if (options.print_parent && word(1) != 0) {
                out += " <-";
                print_address(word(1), options.sym_offset, out);
            }
            out += '\n';
            return;
        case FtraceKind::kernel_stack:
            return print_stack(*event.fields[0], bytes, out);
        case FtraceKind::user_stack:
            return print_user_stack(*event.fields[0], bytes, out);
        case FtraceKind::print:
        case FtraceKind::binary_print:
        case FtraceKind::puts:
            print_address(word(0), options.sym_offset, out);
            return append_message(out, event, bytes, context_.addresses);
        case FtraceKind::raw_data: {
            out += "# ";
            append_hex(out, load<std::uint32_t>(bytes, event.fields[0]->offset));
            out += " buf: ";
            append_hex_bytes(out, tail_of(event.fields[1], bytes), ' ');
            out += '\n';
            return;
        }
    }
}

void KernelText::print_stack(const Field& field, RecordBytes bytes, std::string& out) {
    out += "<stack trace>\n";
    for (const std::uint64_t address : stack_of(field, bytes, false)) {
        const std::size_t start = out.size();
        out += " => ";
        if (address == kTrampoline)
            out += "[FTRACE TRAMPOLINE]";
        else
            print_address(address, context_.options.sym_offset, out);
        make_printable(out, start, context_.controls);
        out += '\n';
    }
}

void KernelText::print_user_stack(const Field& field, RecordBytes bytes, std::string& out) {
    out += "<user stack trace>\n";
    for (const std::uint64_t address : stack_of(field, bytes, true)) {
        out += " =>  <";
        append_pointer(out, address);
        out += ">\n";
    }
}

}  // namespace gpufs
