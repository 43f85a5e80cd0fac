#include "gpufs/view/trace_cmd_text.h"

#include <algorithm>

#include "gpufs/base/cat.h"
#include "gpufs/lang/binary_printf.h"
#include "gpufs/view/padded.h"
#include "gpufs/view/record_bytes.h"
#include "gpufs/view/trace_text.h"

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
    const CatalogEvent* const event = context_.events.find(id);
    if (!event) return p;
    const EventFormat& format = event->format;
    p.title = format.name + ": ";
    p.title.append(kTitleWidth - std::min(kTitleWidth, format.name.size()), ' ');
    const auto use = [&](Kind kind, std::initializer_list<std::string_view> fields) {
        p.kind = kind;
        for (const std::string_view name : fields) p.fields.push_back(format.find(name));
    };
    p.kind = Kind::event;
    if (format.system == "ftrace") {
        if (format.name == "function")
            use(Kind::function, {"ip", "parent_ip"});
        else if (format.name == "kernel_stack")
            use(Kind::kernel_stack, {"caller"});
        else if (format.name == "user_stack")
            use(Kind::user_stack, {"caller"});
        else if (format.name == "print")
            use(Kind::print, {"ip", "buf"});
        else if (format.name == "bprint")
            use(Kind::binary_print, {"ip", "fmt", "buf"});
        else if (format.name == "bputs")
            use(Kind::puts, {"ip", "str"});
    }
    if (p.kind == Kind::event) {
        EventFormat changed = format;
        changed.print_format = plugin_print_format(format);
        p.text.emplace(changed, PrintFormat::Addresses::library);
    } else if (!p.fields[0]) {
        p.kind = Kind::unknown;
    }
    return p;
}

const TraceCmdText::Printer& TraceCmdText::printer(int id) {
    const auto index = static_cast<std::size_t>(std::max(id, 0));
    if (index >= printers_.size()) printers_.resize(index + 1);
    if (!printers_[index]) printers_[index] = std::make_unique<Printer>(make_printer(id));
    return *printers_[index];
}

void TraceCmdText::print(const TraceRecord& record, std::string_view buffer, std::string& out) {
    if (record.lost_before != 0) {
        append(out, "CPU:");
        append(out, record.cpu);
        append(out, " [");
        if (record.lost_before != kLostUnknown) {
            append(out, record.lost_before);
            out += ' ';
        }
        append(out, "EVENTS DROPPED]\n");
    }
    out += buffer;
    print_context(record, out);
    const Printer& p = printer(record.id());
    if (p.kind == Kind::unknown) {
        out += cat("unknown event ", record.id(), '\n');
        return;
    }
    out += p.title;
    print_event(p, record.bytes, out);
    if (!out.ends_with('\n')) out += '\n';
}

void TraceCmdText::print_context(const TraceRecord& record, std::string& out) {
    const int pid = common_fields(record.bytes).pid;
    const std::string_view comm = context_.tasks.comm(pid);
    if (comm.size() < 16) out.append(16 - comm.size(), ' ');
    out += comm;

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
        const std::uint64_t us = (record.timestamp + 500) / 1000;
        *to++ = ' ';
        to = put_padded(to, us / 1'000'000, 5, ' ');
        *to++ = '.';
        to = put_padded(to, us % 1'000'000, 6, '0');
    } else {
        to = put_padded(to, record.timestamp, 12, ' ');
    }
    *to++ = ':';
    *to++ = ' ';
    out.append(text, to);
}

// The function's name, or the address in hex.
void TraceCmdText::print_function(std::uint64_t address, std::string& out) {
    const auto& find = context_.addresses.symbol;
    if (const auto symbol = find ? find(address) : std::nullopt)
        out += symbol->name;
    else
        append_number(out, address, {.base = 16});
}

void TraceCmdText::print_event(const Printer& p, RecordBytes bytes, std::string& out) {
    const auto word = [&](std::size_t i) {
        return p.fields[i] ? integer_of(*p.fields[i], bytes) : 0;
    };
    switch (p.kind) {
        case Kind::unknown:
            return;
        case Kind::event:
            return p.text->print(bytes, context_.addresses, out);
        case Kind::function:
            print_function(word(0), out);
            out += " <-- ";
            print_function(word(1), out);
            return;
        case Kind::kernel_stack:
        case Kind::user_stack: {
            const bool is_user = p.kind == Kind::user_stack;
            out += is_user ? "<user stack trace >\n" : "<stack trace >\n";
            for (const std::uint64_t address : stack_of(*p.fields[0], bytes, is_user)) {
                out += "=> ";
                if (!is_user) {
                    print_function(address, out);
                    out += ' ';
                }
                out += '(';
                append_number(out, address, {.base = 16});
                out += ")\n";
            }
            return;
        }
        case Kind::print:
            print_function(word(0), out);
            out += ": ";
            out += as_text(tail_of(p.fields[1], bytes));
            return;
        case Kind::binary_print:
        case Kind::puts: {
            print_function(word(0), out);
            out += ": ";
            const auto& find = context_.addresses.text;
            const auto format = find ? find(word(1)) : std::nullopt;
            if (!format)
                out += "(format string not known)";
            else if (p.kind == Kind::puts)
                out += *format;
            else
                append_binary_printf(out, *format, tail_of(p.fields[2], bytes), context_.addresses);
            return;
        }
    }
}

}  // namespace gpufs
