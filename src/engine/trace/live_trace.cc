#include "engine/trace/live_trace.h"

#include "engine/trace/kernel_events.h"
#include "kernel/host/kernel_version.h"

namespace gpufs {
namespace {

// Asks a file of tracefs for its text each time it is called; empty when it cannot be read.
std::function<std::string()> text_of(const Tracefs& tracefs, std::string file) {
    return
        [tracefs, file = std::move(file)] { return tracefs.read_if_readable(file).value_or(""); };
}

}  // namespace

TraceOptions read_trace_options(const Tracefs& tracefs) {
    return parse_trace_options(tracefs.read_if_readable("trace_options").value_or(""),
                               tracefs.read_if_readable("trace_clock").value_or(""));
}

TaskNames kernel_task_names(const Tracefs& top) {
    return TaskNames(text_of(top, "saved_cmdlines"), text_of(top, "saved_tgids"));
}

LiveTrace::LiveTrace(const Tracefs& top, const Tracefs& instance)
    : printk_formats_(text_of(top, "printk_formats")) {
    context_.events = kernel_events(top);
    context_.tasks = kernel_task_names(top);
    context_.tasks.refresh();
    context_.addresses.symbol = [this](std::uint64_t address) { return symbols_.find(address); };
    context_.addresses.text = [this](std::uint64_t address) {
        return printk_formats_.find(address);
    };
    context_.options = read_trace_options(instance);
    set_kernel_release(context_.options, running_release());
}

}  // namespace gpufs
