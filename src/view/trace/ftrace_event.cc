#include "view/trace/ftrace_event.h"

#include <algorithm>
#include <string_view>

#include "base/bytes.h"
#include "lang/print_fmt/binary_printf.h"
#include "view/trace/record_bytes.h"

namespace gpufs {
namespace {

struct Known {
    std::string_view event;
    FtraceKind kind;
    std::vector<std::string_view> fields;
};

// From kernel/trace/trace_entries.h.
const std::vector<Known>& known_events() {
    static const std::vector<Known> kKnown{
        {"function", FtraceKind::function, {"ip", "parent_ip"}},
        {"kernel_stack", FtraceKind::kernel_stack, {"caller"}},
        {"user_stack", FtraceKind::user_stack, {"caller"}},
        {"print", FtraceKind::print, {"ip", "buf"}},
        {"bprint", FtraceKind::binary_print, {"ip", "fmt", "buf"}},
        {"bputs", FtraceKind::puts, {"ip", "str"}},
        {"raw_data", FtraceKind::raw_data, {"id", "buf"}},
    };
    return kKnown;
}

}  // namespace

void append_message(std::string& out, const FtraceEvent& event, RecordBytes record,
                    const AddressNames& names) {
    out += ": ";
    if (event.kind == FtraceKind::print) {
        out += up_to_nul(tail_of(event.fields[1], record));
        return;
    }
    const auto format =
        names.text ? names.text(integer_of(*event.fields[1], record)) : std::nullopt;
    if (!format)
        out += "(format string not known)\n";
    else if (event.kind == FtraceKind::puts)
        out += *format;
    else
        append_binary_printf(out, *format, tail_of(event.fields[2], record), names);
}

FtraceEvent find_ftrace_event(const EventFormat& format) {
    if (format.system != "ftrace") return {};
    const auto known = std::ranges::find(known_events(), format.name, &Known::event);
    if (known == known_events().end()) return {};
    FtraceEvent found{known->kind, format.find_all(known->fields)};
    return found.fields.empty() ? FtraceEvent() : found;
}

}  // namespace gpufs
