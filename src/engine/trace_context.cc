#include "gpufs/engine/trace_context.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "gpufs/base/text.h"

namespace gpufs {
namespace {

// Clocks that count something else than nanoseconds (kernel/trace/trace.c, trace_clocks[]).
bool counts_nanoseconds(std::string_view clock) {
    return clock != "counter" && clock != "uptime" && !clock.starts_with("x86-tsc") &&
           !clock.starts_with("ppc-tb");
}

// The major and minor number of the running kernel.
std::pair<int, int> running_kernel() {
    utsname name{};
    std::pair<int, int> version;
    if (::uname(&name) == 0) std::sscanf(name.release, "%d.%d", &version.first, &version.second);
    return version;
}

}  // namespace

TraceOptions read_trace_options(const Tracefs& tracefs) {
    TraceOptions options;
    // "[local] global counter ..."
    const std::string clocks = tracefs.read_if_readable("trace_clock").value_or("");
    if (const auto open = clocks.find('['); open != clocks.npos) {
        const auto close = clocks.find(']', open);
        options.clock_is_ns =
            counts_nanoseconds(std::string_view(clocks).substr(open + 1, close - open - 1));
    }
    const std::string text = tracefs.read_if_readable("trace_options").value_or("");
    for (const std::string_view line : lines_of(text)) {
        const bool off = line.starts_with("no");
        const std::string_view name = off ? line.substr(2) : line;
        const auto take = [&](std::string_view option, bool& value) {
            if (name == option) value = !off;
        };
        take("context-info", options.context_info);
        take("irq-info", options.irq_info);
        take("record-tgid", options.record_tgid);
        take("sym-offset", options.sym_offset);
        take("sym-addr", options.sym_addr);
        take("print-parent", options.print_parent);
        take("annotate", options.annotate);
    }
    return options;
}

LiveTrace::LiveTrace(const Tracefs& top, const Tracefs& instance)
    : printk_formats_(top.path("printk_formats")) {
    context_.events = EventCatalog(top);
    context_.tasks = TaskNames(top.root());
    context_.tasks.refresh();
    context_.addresses.symbol = [this](std::uint64_t address) { return kallsyms_.find(address); };
    context_.addresses.text = [this](std::uint64_t address) {
        return printk_formats_.find(address);
    };
    context_.options = read_trace_options(instance);
    context_.options.resched_lazy = running_kernel() >= std::pair(6, 13);
    context_.options.syscall_prefix = running_kernel() >= std::pair(6, 18);
}

}  // namespace gpufs
