#include "engine/trace/context.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "kernel/host/kernel_version.h"

namespace gpufs {

// Clocks that count something else than nanoseconds (kernel/trace/trace.c, trace_clocks[]).
bool counts_nanoseconds(std::string_view clock) {
    return clock != "counter" && clock != "uptime" && !clock.starts_with("x86-tsc") &&
           !clock.starts_with("ppc-tb");
}

std::string_view chosen_clock(std::string_view trace_clock) {
    const auto open = trace_clock.find('[');
    if (open == trace_clock.npos) return {};
    return trace_clock.substr(open + 1, trace_clock.find(']', open) - open - 1);
}

void set_kernel_release(TraceOptions& options, std::string_view release) {
    const KernelVersion version = parse_kernel_release(std::string(release));
    options.resched_lazy = version >= KernelVersion{6, 13};
    options.syscall_prefix = version >= KernelVersion{6, 18};
}

TraceOptions read_trace_options(const Tracefs& tracefs) {
    TraceOptions options;
    const std::string clocks = tracefs.read_if_readable("trace_clock").value_or("");
    options.clock_is_ns = counts_nanoseconds(chosen_clock(clocks));
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
    set_kernel_release(context_.options, running_release());
}

}  // namespace gpufs
