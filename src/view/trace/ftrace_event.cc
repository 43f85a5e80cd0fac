#include "view/trace/ftrace_event.h"

#include <algorithm>
#include <string_view>

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

FtraceEvent find_ftrace_event(const EventFormat& format) {
    if (format.system != "ftrace") return {};
    const auto known = std::ranges::find(known_events(), format.name, &Known::event);
    if (known == known_events().end()) return {};
    FtraceEvent found{known->kind, {}};
    for (const std::string_view name : known->fields) {
        found.fields.push_back(format.find(name));
        if (!found.fields.back()) return {};
    }
    return found;
}

}  // namespace gpufs
