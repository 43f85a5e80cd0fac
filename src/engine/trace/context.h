#pragma once

#include <string_view>

#include "base/printable.h"
#include "base/symbol.h"
#include "engine/trace/events.h"
#include "lang/symbols/task_names.h"

namespace gpufs {

// What a tracefs directory's options say about how its records are printed. The defaults are the
// kernel's.
struct TraceOptions {
    bool clock_is_ns = true;   // time stamps are nanoseconds, not counts
    bool context_info = true;  // task, CPU and time in front of the event
    bool irq_info = true;      // the column "d..2."
    bool record_tgid = false;  // the column "(    812)"
    bool sym_offset = false;   // "schedule+0x2b/0xd0" in stacks
    bool sym_addr = false;     // and the address behind it
    bool print_parent = true;  // " <-caller" behind a traced function
    bool annotate = true;
    // Lazy rescheduling shows in "d..2." (Linux 6.13 and later).
    bool resched_lazy = true;
    // How deep migration is disabled shows in "d..2." (Linux 5.15 and later).
    bool migrate_disable = true;
    // Arguments of system calls from 10 on are printed with "0x" (Linux 6.18 and later).
    bool syscall_prefix = true;
    // The kernel marks each CPU's first record in a buffer that has overrun, with `annotate` set.
    bool mark_cpu_starts = false;
};
// From the texts of the files of these names.
TraceOptions parse_trace_options(std::string_view trace_options, std::string_view trace_clock);
// Does the trace_clock count nanoseconds?
bool counts_nanoseconds(std::string_view clock);
// Sets what depends on the kernel: "6.12.41-amd64".
void set_kernel_release(TraceOptions& options, std::string_view release);

// All it takes to turn the records of one trace into words.
struct TraceContext {
    Events events;
    TaskNames tasks;
    AddressNames addresses;
    TraceOptions options;
    Controls controls = Controls::escaped;  // of the texts that records and recordings hold
};

}  // namespace gpufs
