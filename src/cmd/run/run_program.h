#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cmd/run/monitor_printer.h"
#include "cmd/shared/command.h"
#include "cmd/shared/pictures.h"
#include "engine/monitor/prepared_program.h"
#include "lang/expr/expr.h"
#include "lang/program/program.h"

namespace gpufs {

namespace bt {
struct Compiled;
}
class KernelFacts;
struct LatencyHists;
class Options;
class TraceFile;

// How user stacks are taken: by frame pointers, by tables of rules (engine/unwind), or by the
// latter where this kernel can.
enum class Unwind { automatic, frame_pointers, tables };
Unwind parse_unwind(const std::string& text);

// How a Program is run, whoever made it.
struct RunChoices {
    ParameterValues parameters;
    std::optional<Expression> condition;
    std::vector<std::string> command;  // behind --; empty: none
    std::vector<int> pids;             // of the processes or threads that are looked at; empty: all
    bool all = false;                  // not only the COMMAND's tasks
    bool follows = false;              // see follow_command()
    int followed = 0;                  // the process whose threads are followed instead; 0: none
    std::optional<std::chrono::nanoseconds> duration, interval;
    std::optional<std::string> input;  // a recording to run over
    TraceFile* recording = nullptr;    // the same, where it is open already
    KernelFacts* kernel = nullptr;     // live: what is known of this kernel already
    std::optional<Expression> freeze_on;
    bool by_stack = false;  // count by stack what the monitor counts without stacks
    Unwind unwind = Unwind::automatic;
    std::optional<std::string> session;
    Controls controls = Controls::escaped;
    bool top = false;  // a full screen each interval
    // With an interval: also what processes did with the GPUs, by their drivers' counters.
    bool gpu_use = false;
    // The programs that this one was merged from; empty: it is one. Live, those that cannot be
    // loaded are left out: their errors are printed, and the exit status is kFailed where it would
    // be kOk.
    std::vector<Program> parts;
    // The program is of this script alone: ScriptPrinter prints its output.
    const bt::Compiled* script = nullptr;
    // Else the scripts that the program was merged from, beside others or not, by prefixed names:
    // JointPrinter prints its output.
    std::vector<const bt::Compiled*> scripts;
    // The program answers a question of a command's words: its keys are those behind `by`.
    bool is_adhoc = false;
    // The program has no code: hist triggers of the kernel fill its maps (run_hists()).
    const LatencyHists* hists = nullptr;
    PictureChoices pictures;
    Pictures* drawn = nullptr;  // set where there are some to draw
    bool dry_run = false, explain = false, folded = false, json = false, lines = false,
         probe_frames = false, self = false, strict = false, verbose = false;

    // What an engine needs to know of them.
    PreparedProgram::Choice for_program() const { return {parameters, condition, 0}; }
    MonitorPrinter::Form form() const {
        return {json, folded, interval.has_value(), pictures.is_plotted, controls, drawn};
    }

    // How often something is to be done: each interval, or, to draw what comes without one, each
    // `sample`.
    std::optional<std::chrono::nanoseconds> ticks(std::chrono::nanoseconds sample) const {
        return interval || !pictures.has_times() ? interval : sample;
    }

    std::vector<const bt::Compiled*> all_scripts() const {
        return script ? std::vector{script} : scripts;
    }
    bool has_only_scripts() const;
};

// Declares the options that fill it, the same for all commands that run a Program; the command is
// the caller's to take.
void add_run_options(Options& options, RunChoices& choices);
// Sets `follows`, to look only at the tasks of the COMMAND: where there is one, unless --all or
// `has_pids`, processes that were named, say otherwise. Programs of .bpf texts are then to be given
// to look_at_followed() before they are merged.
void follow_command(RunChoices& choices, bool has_pids);
// --freeze-on and its --session, where programs may be such that send records for it.
void add_freeze_options(Options& options, RunChoices& choices);

// --by stack, where programs may be such that count by stack only then.
void add_by_option(Options& options, RunChoices& choices);

// Links, loads and attaches the program, prints its records as they come, its reports each interval
// and at the end, and what was lost. The end is a signal, the duration, the command's end, or an
// exit action, which has a status. Over a recording the same, in the recording's time; its end is
// the end. Returns what Command::run returns.
int run_program(Context& ctx, Program program, RunChoices choices);

// What live runs and runs over a recording share.

// Whether the program counts by stack, which some do only where a parameter says so.
bool takes_stacks(const Program& program, const ParameterValues& given);

// Prints where each program runs, as far as that was asked for, and what to beware of. False when
// that was all there is to do.
bool explain(Context& ctx, const std::vector<std::string>& lines,
             const std::vector<std::string>& cautions, const RunChoices& choices);

}  // namespace gpufs
