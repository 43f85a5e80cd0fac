#include "lang/symbols/probe_functions.h"

#include <algorithm>

namespace gpufs {
namespace {

// Beginnings of names; Linux 5.10 to 7.3.
constexpr std::string_view kBeginnings[] = {
    // programs, and what calls and what they call
    "bpf_prog_", "__bpf_prog_", "bpf_trampoline_", "trace_call_bpf", "bpf_get_stack",
    "__bpf_get_stack", "____bpf_get_stack", "bpf_overflow_handler",
    // tracepoints
    "__traceiter_", "bpf_trace_run", "__bpf_trace_", "perf_trace_", "perf_call_bpf_",
    "perf_syscall_", "trace_event_", "ftrace_syscall_", "event_triggers_", "stacktrace_trigger",
    "stacktrace_count_trigger", "__trace_stack", "__ftrace_trace_stack", "trace_buffer_unlock_",
    // functions
    "ftrace_trampoline", "ftrace_caller", "ftrace_call", "ftrace_regs_call", "kprobe_ftrace_",
    "kprobe_dispatcher", "kprobe_perf_func", "kprobe_trace_func", "kretprobe_", "__kretprobe_",
    "arch_rethook_trampoline", "rethook_trampoline_", "fprobe_", "kprobe_multi_link_",
    "optimized_callback", "opt_pre_handler", "aggr_pre_handler"};

}  // namespace

bool is_probe_function(std::string_view function) {
    return std::ranges::any_of(
        kBeginnings, [&](std::string_view beginning) { return function.starts_with(beginning); });
}

}  // namespace gpufs
