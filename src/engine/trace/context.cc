#include "engine/trace/context.h"

#include "base/kernel_version.h"
#include "base/text.h"

namespace gpufs {

// Clocks that count something else than nanoseconds (kernel/trace/trace.c, trace_clocks[]).
bool counts_nanoseconds(std::string_view clock) {
    return clock != "counter" && clock != "uptime" && !clock.starts_with("x86-tsc") &&
           !clock.starts_with("ppc-tb");
}

void set_kernel_release(TraceOptions& options, std::string_view release) {
    const KernelVersion version = parse_kernel_release(release);
    options.migrate_disable = version >= KernelVersion{5, 15};
    options.resched_lazy = version >= KernelVersion{6, 13};
    options.syscall_prefix = version >= KernelVersion{6, 18};
}

TraceOptions parse_trace_options(std::string_view trace_options, std::string_view trace_clock) {
    TraceOptions options;
    options.clock_is_ns = counts_nanoseconds(chosen_word(trace_clock));
    for (const std::string_view line : lines_of(trace_options)) {
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

}  // namespace gpufs
