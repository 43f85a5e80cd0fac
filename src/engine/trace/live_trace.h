#pragma once

#include "engine/symbols/kernel_symbols.h"
#include "engine/trace/context.h"
#include "kernel/tracefs/tracefs.h"
#include "lang/symbols/printk_formats.h"

namespace gpufs {

TraceOptions read_trace_options(const Tracefs& tracefs);

// The names of tasks that the tracer of this kernel remembers, as they are at each refresh. A file
// that is not there or may not be read is empty.
TaskNames kernel_task_names(const Tracefs& top);

// What the running kernel's records mean, of one of its trace buffers. Symbols and strings are
// loaded when the first record asks for one.
class LiveTrace {
public:
    LiveTrace(const Tracefs& top, const Tracefs& instance);
    LiveTrace(const LiveTrace&) = delete;
    LiveTrace& operator=(const LiveTrace&) = delete;

    TraceContext& context() { return context_; }

private:
    KernelSymbols symbols_;
    PrintkFormats printk_formats_;
    TraceContext context_;
};

}  // namespace gpufs
