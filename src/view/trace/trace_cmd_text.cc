#include "view/trace/trace_cmd_text.h"

#include <algorithm>

#include "base/cat.h"
#include "base/hex.h"
#include "view/trace/kernel_text.h"
#include "view/trace/padded.h"

namespace gpufs {
namespace {

// Behind an event's name is room for this many characters.
constexpr std::size_t kTitleWidth = 20;

// Events that plugins of libtraceevent print in another form than the kernel does. Where `kernel`
// is not empty, it is what the kernel's print fmt must begin with, and only that is replaced: what
// stands behind it goes on to say how the values are made.
struct PluginText {
    std::string_view event, kernel, text;
};
constexpr PluginText kPluginTexts[] = {
    {"sched:sched_switch",
     "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d "
     "next_prio=%d\"",
     "\"%s:%d [%d] %s%s ==> %s:%d [%d]\""},
    {"sched:sched_wakeup", "\"comm=%s pid=%d prio=%d target_cpu=%03d\"", "\"%s:%d [%d] CPU:%03d\""},
    {"sched:sched_wakeup_new", "\"comm=%s pid=%d prio=%d target_cpu=%03d\"",
     "\"%s:%d [%d] CPU:%03d\""},
    {"timer:hrtimer_start", "",
     "\"hrtimer=%p function=%ps/0x0 expires=%llu softexpires=%llu\", REC->hrtimer, REC->function, "
     "REC->expires, REC->softexpires"},
    {"timer:hrtimer_expire_entry", "",
     "\"hrtimer=%p now=%llu function=%ps/0x0\", REC->hrtimer, REC->now, REC->function"},
    {"tlb:tlb_flush", "\"pages:%ld reason:%s (%d)\"", "\"pages=%ld reason=%s (%d)\""},
};
// Events of kmem in front of whose text is who called.
constexpr std::string_view kAllocations[] = {"kmalloc",         "kmalloc_node",
                                             "kfree",           "kmem_cache_alloc",
                                             "kmem_cache_free", "kmem_cache_alloc_node"};

// The print fmt that an event is printed by.
std::string plugin_print_format(const EventFormat& format) {
    std::string text = format.print_format;
    const std::string name = format.full_name();
    const auto it = std::ranges::find(kPluginTexts, name, &PluginText::event);
    if (it != std::end(kPluginTexts)) {
        if (it->kernel.empty())
            text = it->text;
        else if (text.starts_with(it->kernel))
            text.replace(0, it->kernel.size(), it->text);
    } else if (format.system == "kmem" && format.find("call_site") &&
               std::ranges::count(kAllocations, format.name) > 0 && text.starts_with('"')) {
        const auto end = text.find("\", ");
        if (end != text.npos) {
            text.insert(end + 3, "REC->call_site, ");
            text.insert(1, "(%pS) ");
        }
    }
    return text;
}

}  // namespace

TraceCmdText::Printer TraceCmdText::make_printer(int id) {
    Printer p;
    const TraceEvent* const event = context_.events.find(id);
    if (!event) return p;
    const EventFormat& format = event->format;
    p.title = format.name + ": ";
    p.title.append(kTitleWidth - std::min(kTitleWidth, format.name.size()), ' ');
    p.is_known = true;
    p.ftrace = find_ftrace_event(format);
    // It knows no form of its own for these.
    if (p.ftrace.kind == FtraceKind::raw_data) p.ftrace.kind = FtraceKind::none;
    if (p.ftrace.kind == FtraceKind::none) {
        EventFormat changed = format;
        changed.print_format = plugin_print_format(format);
        p.text.emplace(changed, PrintFormat::Addresses::library);
    }
    return p;
}

TraceCmdText::Prepared TraceCmdText::prepare(const TraceRecord& record) {
    Prepared prepared;
    prepared.printer = &printers_.get(record.id(), [&](int id) { return make_printer(id); });
    prepared.comm = context_.tasks.comm(common_fields(record.bytes).pid);
    const FtraceEvent& event = prepared.printer->ftrace;
    if (event.kind == FtraceKind::function) {
        const auto word = [&](std::size_t i) { return integer_of(*event.fields[i], record.bytes); };
        prepared.depth = depth(record.cpu, start_of(word(1)), start_of(word(0)));
    }
    if (event.kind == FtraceKind::user_stack) prepared.process = process_of(context_, record);
    return prepared;
}

void TraceCmdText::print(const Prepared& prepared, const TraceRecord& record,
                         std::string_view buffer, std::string& out) const {
    if (!record.lost_before.is_zero()) {
        append(out, "CPU:");
        append(out, record.cpu);
        append(out, " [");
        if (record.lost_before.is_exact()) {
            append(out, record.lost_before.least);
            out += ' ';
        }
        append(out, "EVENTS DROPPED]\n");
    }
    out += buffer;
    print_context(prepared, record, out);
    const Printer& p = *prepared.printer;
    if (!p.is_known) {
        out += cat("unknown event ", record.id(), '\n');
        return;
    }
    const std::size_t start = out.size();
    out += p.title;
    if (p.text)
        p.text->print(record.bytes, context_.addresses, out);
    else
        print_ftrace(prepared, record, out);
    if (!out.ends_with('\n')) out += '\n';
    if (!p.ftrace.is_stack()) make_line_printable(out, start, context_.controls);
}

void TraceCmdText::print_context(const Prepared& prepared, const TraceRecord& record,
                                 std::string& out) const {
    const int pid = common_fields(record.bytes).pid;
    append_comm(out, prepared.comm, context_.controls);

    char text[96];
    char* to = text;
    *to++ = '-';
    char* const number = to;
    if (pid < 0) *to++ = '-';
    to = put_padded(to, static_cast<std::uint64_t>(std::abs(std::int64_t{pid})), 1, ' ');
    while (to < number + 5) *to++ = ' ';
    *to++ = ' ';
    *to++ = '[';
    to = put_padded(to, static_cast<std::uint64_t>(record.cpu), 3, '0');
    *to++ = ']';
    if (context_.options.clock_is_ns) {
        *to++ = ' ';
        to = put_seconds(to, record.timestamp);
    } else {
        to = put_padded(to, record.timestamp, 12, ' ');
    }
    *to++ = ':';
    *to++ = ' ';
    out.append(text, to);
}

// How deep a function is below the others that were traced on its CPU, as far as their callers
// tell.
std::size_t TraceCmdText::depth(int cpu, std::uint64_t caller, std::uint64_t function) {
    std::vector<std::uint64_t>& calls = calls_[cpu];
    const auto at = std::ranges::find(calls, caller);
    if (at == calls.end())
        calls = {caller};
    else
        calls.erase(std::next(at), calls.end());
    calls.push_back(function);
    return calls.size() - 2;
}

// Where the function begins that an address is in.
std::uint64_t TraceCmdText::start_of(std::uint64_t address) const {
    const auto& find = context_.addresses.symbol;
    const auto symbol = find ? find(address) : std::nullopt;
    return symbol ? address - symbol->offset : address;
}

// The function's name, or the address in hex.
void TraceCmdText::print_function(std::uint64_t address, std::string& out) const {
    const auto& find = context_.addresses.symbol;
    if (const auto symbol = find ? find(address) : std::nullopt)
        out += symbol->name;
    else
        out += hex(address);
}

void TraceCmdText::print_ftrace(const Prepared& prepared, const TraceRecord& record,
                                std::string& out) const {
    const FtraceEvent& event = prepared.printer->ftrace;
    const RecordBytes bytes = record.bytes;
    const auto word = [&](std::size_t i) { return integer_of(*event.fields[i], bytes); };
    switch (event.kind) {
        case FtraceKind::none:
        case FtraceKind::raw_data:
            return;
        case FtraceKind::function:
            out.append(3 * prepared.depth, ' ');
            return print_function(word(0), out);
        case FtraceKind::kernel_stack:
            out += "<stack trace >\n";
            for (const std::uint64_t address : stack_of(*event.fields[0], bytes, false)) {
                out += "=> ";
                const auto& find = context_.addresses.symbol;
                if (const auto symbol = find ? find(address) : std::nullopt)
                    out += cat(printable(symbol->name, context_.controls), " (",
                               hex(address).substr(2), ")\n");
                else
                    out += cat(hex(address).substr(2), '\n');
            }
            return;
        case FtraceKind::user_stack:
            for (const std::uint64_t address : stack_of(*event.fields[0], bytes, true)) {
                out += cat("\t=> ", hex(address));
                const auto& find = context_.addresses.user;
                if (const auto symbol = find ? find(prepared.process, address) : std::nullopt)
                    out += printable(cat(' ', symbol->name, " (", symbol->module, ')'),
                                     context_.controls);
                out += '\n';
            }
            return;
        case FtraceKind::print:
        case FtraceKind::binary_print:
        case FtraceKind::puts:
            print_function(word(0), out);
            return append_message(out, event, bytes, context_.addresses);
    }
}

}  // namespace gpufs
