#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/loss.h"
#include "base/output.h"

namespace gpufs {

using Args = std::span<const std::string>;

enum Exit { kOk = 0, kFailed = 1, kUsage = 2, kUnsupported = 3, kLostData = 4 };

// The exit status of work whose result is `status`: with --strict, kLostData if something is
// missing, or may be.
inline int status_of(bool is_strict, const LossLedger& losses, int status = kOk) {
    return is_strict && !losses.is_complete() ? kLostData : status;
}

// Whose words an error that ends a command is told in.
enum class Voice { gpufs, bpftrace };

// The outputs of a command: data on `out`, everything about the run on `err`.
struct Context {
    Output& out;
    Output& err;
    Voice voice = Voice::gpufs;
};

struct Command {
    std::string_view name, summary;
    // Returns the exit status. If a signal ended the work, returns the negative signal number after
    // everything is undone; gpufs then terminates by that signal.
    int (*run)(Context&, Args);
};

// What was built: "v1.2-3-gabcdef0".
std::string version();

int cmd_asm(Context&, Args);
int cmd_bt(Context&, Args);
int cmd_count(Context&, Args);
int cmd_diff(Context&, Args);
int cmd_disasm(Context&, Args);
int cmd_doctor(Context&, Args);
int cmd_export(Context&, Args);
int cmd_filter(Context&, Args);
int cmd_hist(Context&, Args);
int cmd_latency(Context&, Args);
int cmd_list(Context&, Args);
int cmd_options(Context&, Args);
int cmd_probe(Context&, Args);
int cmd_recipe(Context&, Args);
int cmd_record(Context&, Args);
int cmd_report(Context&, Args);
int cmd_reset(Context&, Args);
int cmd_run(Context&, Args);
int cmd_show(Context&, Args);
int cmd_stacks(Context&, Args);
int cmd_stall(Context&, Args);
int cmd_start(Context&, Args);
int cmd_stats(Context&, Args);
int cmd_status(Context&, Args);
int cmd_stop(Context&, Args);
int cmd_trigger(Context&, Args);
int cmd_watch(Context&, Args);

// In the order in which a person needs them.
inline constexpr Command kCommands[] = {
    {"doctor", "say what this kernel and this user can do, and how to mend the rest", cmd_doctor},
    {"watch", "say what GPUs do: jobs on their rings, fences, displays", cmd_watch},
    {"stall", "say what kept a process from running: where, how long, who woke it", cmd_stall},
    {"recipe", "run a file of filters and triggers that answers one question", cmd_recipe},
    {"run", "run BPF programs of a .bpf file: shipped monitors, or your own", cmd_run},
    {"bt", "run a script in the bpftrace language, with bpftrace's command line", cmd_bt},
    {"count", "count events, by fields, tasks, CPUs or stacks", cmd_count},
    {"hist", "show how large the values of an event's field are", cmd_hist},
    {"stats", "show count, sum, average and extremes of an event's field", cmd_stats},
    {"latency", "show how long it takes from one event to another", cmd_latency},
    {"stacks", "count from where events happen", cmd_stacks},
    {"diff", "compare the stacks of two runs: what grew, what shrank", cmd_diff},
    {"record", "record events into a file, for later and for other tools", cmd_record},
    {"report", "print a recording: trace.dat, perf.data or text of the kernel", cmd_report},
    {"export", "write a recording for Perfetto and other viewers", cmd_export},
    {"list", "list events with their fields, dynamic probes and triggers", cmd_list},
    {"filter", "record the events for which an expression holds", cmd_filter},
    {"trigger", "let events take stacks, stop the buffer, switch other events on", cmd_trigger},
    {"probe", "make events of functions, instructions and static probes", cmd_probe},
    {"show", "show what the session recorded, once or live", cmd_show},
    {"status", "say what is set, as the commands that would set it again", cmd_status},
    {"options", "set buffer size, clock, pids, CPUs and trace options", cmd_options},
    {"start", "let the session's buffer record", cmd_start},
    {"stop", "stop the session's buffer; what it holds stays", cmd_stop},
    {"reset", "remove what the session set, and nothing else", cmd_reset},
    {"asm", "check a .bpf file, or assemble instructions", cmd_asm},
    {"disasm", "show a BPF program as text that assembles again", cmd_disasm},
};

}  // namespace gpufs
