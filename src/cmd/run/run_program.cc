#include "cmd/run/run_program.h"

#include <algorithm>

#include "base/error.h"
#include "bt/types/compiled.h"
#include "cmd/run/hist_run.h"
#include "cmd/run/live_run.h"
#include "cmd/run/recorded_run.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/screen.h"
#include "lang/ir/followed.h"
#include "view/monitor/explanation.h"
#include "view/report/report_cells.h"

namespace gpufs {
namespace {

// What is shown of maps: that the program has some of the kind, and that they are shown so.
void check_maps(const RunChoices& choices, const Program& program) {
    const auto check = [&](const std::string& does, bool has, const char* hint) {
        if (choices.script)
            throw UsageError(cat(does, ": 'gpufs watch' shows those of a script's maps so"));
        if (!has) throw UsageError(cat(does, ": no map of this has any"), hint);
    };
    const char* const in_keys =
        choices.is_adhoc ? "count by them: 'by kstack' or 'by ustack' behind the other words"
                         : "stacks are in a map's key, as kstack(MAP) or ustack(MAP)";
    if (choices.folded)
        check("--folded shows stacks that maps counted", has_stacks(program), in_keys);
    if (choices.pictures.flame)
        check("--flame draws stacks that maps counted", has_stacks(program), in_keys);
    if (choices.pictures.heat || choices.pictures.is_plotted)
        check(choices.pictures.heat ? "--heat draws histograms" : "--plot draws histograms",
              std::ranges::any_of(
                  program.maps,
                  [](const MapDeclaration& map) { return map.aggregation.is_histogram(); }),
              "'gpufs latency' and 'gpufs hist' have one, and some monitors: run sched-wait");
}

// The parameter that says what a monitor counts by stack only where it is asked to: a bit each. The
// first is what it is mainly about.
constexpr const char* kStacks = "stacks";
constexpr std::int64_t kMainStacks = 1, kAllStacks = 0xff;

// Flame graphs of all kinds of counts stand beside each other; folded lines are added up, so they
// are of one kind.
void choose_stacks(RunChoices& choices, const Program& program) {
    if (choices.by_stack && !has_stacks(program))
        throw UsageError("--by stack: this counts nothing by stack");
    if (!program.find_parameter(kStacks) || choices.parameters.numbers.contains(kStacks)) return;
    if (choices.folded)
        choices.parameters.numbers[kStacks] = kMainStacks;
    else if (choices.by_stack || choices.pictures.flame)
        choices.parameters.numbers[kStacks] = kAllStacks;
}

}  // namespace

bool takes_stacks(const Program& program, const ParameterValues& given) {
    bool has_choice = false;
    for (const Parameter& one : program.parameters) {
        if (one.name != kStacks && !one.name.ends_with(cat('.', kStacks))) continue;
        has_choice = true;
        const auto chosen = given.numbers.find(one.name);
        if (chosen != given.numbers.end() && chosen->second != 0) return true;
    }
    return !has_choice;
}

namespace {

void check_choices(const Context& ctx, const RunChoices& choices, const Program& program) {
    check_exclusive({{"--folded", choices.folded}, {"--json", choices.json}});
    const char* const for_programs =
        first_given({{"--folded", choices.folded}, {"--json", choices.json}});
    if (choices.pictures.is_plotted && for_programs)
        throw UsageError(cat("--plot draws what is read by people: not with ", for_programs));
    check_maps(choices, program);
    check_pictures(choices.pictures);
    if (choices.input) check_written(ctx, choices.pictures, *choices.input);
    if (choices.pictures.html && choices.interval)
        throw UsageError("--html does not go with --interval: a page has all of the time");
    if (choices.pictures.has_timeline() && choices.input == "-")
        throw UsageError(cat(choices.pictures.html ? "--html" : "--perfetto",
                             " reads the recording twice: not from a pipe"),
                         "-i FILE");
    const char* const at_the_end =
        first_given({{"--folded", choices.folded},
                     {"--flame", choices.pictures.flame.has_value()},
                     {"--heat", choices.pictures.heat.has_value()},
                     {"--html", choices.pictures.html.has_value()},
                     {"--perfetto", choices.pictures.perfetto.has_value()},
                     {"--plot", choices.pictures.is_plotted},
                     {"-i", choices.input.has_value()}});
    if (choices.top && at_the_end)
        throw UsageError(cat("--top shows what happens now: not with ", at_the_end));
    if (choices.session && !choices.freeze_on) throw UsageError("--session goes with --freeze-on");
    if (choices.freeze_on && choices.input)
        throw UsageError("--freeze-on stops what is being recorded: not with -i");
    if (choices.all && choices.command.empty())
        throw UsageError("--all goes with a COMMAND", "without one the whole machine is looked at");
    if (choices.input && !choices.command.empty())
        throw UsageError("-i reads what was recorded: there is no COMMAND to run");
}

}  // namespace

Unwind parse_unwind(const std::string& text) {
    if (text == "auto") return Unwind::automatic;
    if (text == "fp") return Unwind::frame_pointers;
    if (text == "dwarf") return Unwind::tables;
    throw UsageError(cat("'", text, "' is no way to take user stacks"), "fp, dwarf or auto");
}

bool RunChoices::has_only_scripts() const {
    const std::size_t compiled = all_scripts().size();
    return compiled != 0 && compiled >= parts.size();
}

void add_run_options(Options& options, RunChoices& choices) {
    options.condition(choices.condition)
        .duration(choices.duration)
        .interval(choices.interval)
        .input(choices.input)
        .strict(choices.strict)
        .all(choices.all)
        .output()
        .flag("folded", choices.folded, "stacks that maps counted, as flamegraph.pl reads them");
    add_picture_options(options, choices.pictures);
    options.flag("lines", choices.lines, "source lines in stacks, where debug information has them")
        .flag("probe-frames", choices.probe_frames,
              "kernel stacks begin with the functions of the probe itself")
        .parsed(
            "unwind", "fp|dwarf|auto",
            "how user stacks are taken: by frame pointers, by unwind tables, or by these where the "
            "kernel can, else by frame pointers (auto, the default)",
            [&choices](const std::string& text) { choices.unwind = parse_unwind(text); })
        .flag("self", choices.self, "include the system calls of gpufs itself")
        .flag("explain", choices.explain, "say where each program runs and how, on stderr")
        .flag("dry-run", choices.dry_run,
              "load the programs and say where each would run; attach nothing")
        .json(choices.json)
        .raw(choices.controls)
        .flag("verbose,v", choices.verbose, "show the verifier's whole log of what it refuses");
}

void follow_command(RunChoices& choices, bool has_pids) {
    choices.follows = !choices.command.empty() && !choices.all && !has_pids;
}

void add_freeze_options(Options& options, RunChoices& choices) {
    options
        .expression("freeze-on", choices.freeze_on,
                    "end, and stop a session's buffer, at the first job, wait or event for which "
                    "this holds")
        .session_name(choices.session, "the session that --freeze-on stops (default: gpufs)");
}

void add_by_option(Options& options, RunChoices& choices) {
    options.parsed("by", "stack", "count by stack, too, what the monitor counts without stacks",
                   [&](const std::string& text) {
                       if (text != "stack")
                           throw UsageError(cat("--by takes 'stack', not '", text, '\''));
                       choices.by_stack = true;
                   });
}

int run_program(Context& ctx, Program program, RunChoices choices) {
    check_choices(ctx, choices, program);
    choose_stacks(choices, program);
    if (choices.top && !choices.interval) choices.interval = std::chrono::seconds(1);
    if (choices.freeze_on && program.find_parameter(kFreezing))
        choices.parameters.numbers[kFreezing] = 1;
    if ((choices.follows || choices.followed != 0) && program.find_parameter(kFollowing))
        choices.parameters.numbers[kFollowing] = 1;
    std::optional<Pictures> pictures;
    if (choices.pictures.has_any() && !choices.dry_run)
        choices.drawn = &pictures.emplace(choices.pictures, program.name);
    if (pictures && choices.input) pictures->set_recording(*choices.input);
    const int status = choices.hists   ? run_hists(ctx, *choices.hists, choices)
                       : choices.input ? RecordedRun(ctx, std::move(program), choices).run()
                                       : LiveRun(ctx, std::move(program), choices).run();
    if (pictures) {
        Screen screen = screen_of(ctx.out.fd());
        screen.plot = plot_of(ctx.out.fd());
        ctx.out.write(pictures->plots(screen));
        ctx.out.flush();
        pictures->write(ctx.err);
    }
    return status;
}

bool explain(Context& ctx, const std::vector<std::string>& lines,
             const std::vector<std::string>& cautions, const RunChoices& choices) {
    if (choices.explain || choices.dry_run)
        for (const std::string& line : lines) (choices.dry_run ? ctx.out : ctx.err).line(line);
    for (const std::string& line : caution_lines(cautions)) ctx.err.line(line);
    if (choices.dry_run) return false;
    ctx.err.flush();
    return true;
}

}  // namespace gpufs
