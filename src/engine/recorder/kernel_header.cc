#include "engine/recorder/kernel_header.h"

#include <map>

#include "base/error.h"
#include "base/file.h"
#include "engine/trace/raw_buffer.h"
#include "kernel/host/kallsyms.h"
#include "kernel/host/kernel_version.h"
#include "lang/symbols/kernel_functions.h"

namespace gpufs {
namespace {

// "%ps", "%pS" and the like in a print format.
bool prints_functions(std::string_view format) {
    for (auto at = format.find("%p"); at != format.npos; at = format.find("%p", at + 2))
        if (at + 2 < format.size() && std::string_view("sSfFB").find(format[at + 2]) != format.npos)
            return true;
    return false;
}

// Functions only: nothing else is looked up. Empty where the kernel hides addresses.
std::string read_functions() {
    std::string functions;
    bool is_hidden = true;
    for_each_line(kallsyms_if_readable(), [&](std::string_view line) {
        const auto symbol = parse_kallsyms_line(line);
        if (!symbol || !symbol->is_code()) return;
        if (symbol->address != 0) is_hidden = false;
        functions.append(line) += '\n';
    });
    return is_hidden ? std::string() : functions;
}

}  // namespace

trace_dat::Head read_trace_head(const Tracefs& at, const Tracefs& top,
                                const std::vector<std::string>& events, bool symbols) {
    trace_dat::Head head;
    head.page_bytes = page_layout(at).page_bytes;
    head.header_page = top.read("events/header_page");
    head.header_event = top.read("events/header_event");
    for (const std::string& name : list_directory(top.path("events/ftrace")))
        if (const auto format = top.read_if_readable(cat("events/ftrace/", name, "/format")))
            head.ftrace_formats.push_back(*format);
    std::map<std::string, std::vector<std::string>> systems;
    for (const std::string& event : events) {
        std::string format = top.read(event_directory(event) + "/format");
        symbols = symbols || prints_functions(format);
        systems[event.substr(0, event.find(':'))].push_back(std::move(format));
    }
    for (auto& [name, formats] : systems) head.systems.push_back({name, std::move(formats)});
    if (symbols) head.kallsyms = read_functions();
    head.printk_formats = top.read_if_readable("printk_formats").value_or("");
    head.trace_clock = at.read("trace_clock");
    head.uname = running_uname();
    return head;
}

}  // namespace gpufs
