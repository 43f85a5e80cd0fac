#include "cmd/shared/run_program.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/signals.h"
#include "base/units.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/freeze_on.h"
#include "cmd/shared/monitor_printer.h"
#include "cmd/shared/run_loop.h"
#include "cmd/shared/session_choice.h"
#include "cmd/shared/top.h"
#include "engine/monitor/load.h"
#include "engine/monitor/monitor.h"
#include "engine/monitor/reader.h"
#include "engine/monitor/replay.h"
#include "view/monitor/live_symbols.h"
#include "view/monitor/recorded_symbols.h"
#include "view/monitor/report_text.h"

namespace gpufs {
namespace {

// A refused program shows the verifier's line; with -v the whole log.
Monitor make_monitor(Program program, Monitor::Choice choice, KernelFacts& machine,
                     bool verbose) try {
    return {std::move(program), std::move(choice), machine};
} catch (const RefusedProgram& e) {
    throw Error(e.what(), verbose ? "" : "-v shows the verifier's whole log",
                verbose ? e.log() : e.evidence());
}

// The process that a monitor was asked to look at, where it knows the parameter.
std::uint32_t wanted_process(const Program& program, const ParameterValues& given) {
    const auto pid = given.numbers.find("pid");
    const bool is_named = program.find_parameter("pid") && pid != given.numbers.end();
    return is_named ? static_cast<std::uint32_t>(pid->second) : 0;
}

void check_has_stacks(const Program& program) {
    const bool has = std::ranges::any_of(
        program.maps, [](const MapDeclaration& map) { return has_stacks(map.key); });
    if (!has)
        throw UsageError("--folded shows stacks that maps counted: no map of this has any",
                         "stacks are in a map's key, as kstack(MAP) or ustack(MAP)");
}

std::optional<std::chrono::nanoseconds> parse_interval(const std::optional<std::string>& text) {
    if (!text) return std::nullopt;
    const auto interval = parse_duration("--interval", *text);
    if (interval < std::chrono::milliseconds(1))
        throw UsageError("--interval is 1ms or more", "a bare number is seconds");
    return interval;
}

constexpr std::uint64_t kNever = ~std::uint64_t{0};

std::uint64_t monotonic_ns() {
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

// Moments at even distances from the beginning; those that were missed are left out.
class Ticks {
public:
    using Clock = std::chrono::steady_clock;
    explicit Ticks(std::optional<std::chrono::nanoseconds> distance)
        : distance_(distance),
          next_(Clock::now() + distance.value_or(std::chrono::nanoseconds(0))) {}

    std::chrono::milliseconds left() const {
        using std::chrono::milliseconds;
        if (!distance_) return milliseconds::max();
        return std::max(std::chrono::ceil<milliseconds>(next_ - Clock::now()), milliseconds(0));
    }
    bool passed() {
        if (!distance_ || Clock::now() < next_) return false;
        next_ += ((Clock::now() - next_) / *distance_ + 1) * *distance_;
        return true;
    }

private:
    std::optional<std::chrono::nanoseconds> distance_;
    Clock::time_point next_;
};

void check_choices(const RunChoices& choices, const Program& program) {
    if (choices.folded && choices.json) throw UsageError("--folded and --json exclude each other");
    if (choices.folded) check_has_stacks(program);
    if (choices.top && (choices.folded || choices.json || choices.input))
        throw UsageError("--top is a live screen: not with --json, --folded or -i");
    if (choices.session && !choices.freeze_on) throw UsageError("--session goes with --freeze-on");
    if (choices.freeze_on && choices.input)
        throw UsageError("--freeze-on stops what is being recorded: not with -i");
    if (choices.input && !choices.command.empty())
        throw UsageError("-i reads what was recorded: there is no COMMAND to run");
}

PreparedProgram::Choice take_choice(RunChoices& choices) {
    PreparedProgram::Choice choice;
    choice.parameters = std::move(choices.parameters);
    if (!choices.condition.empty()) choice.condition = SourceText{"--if", choices.condition};
    return choice;
}

// Says where each program runs, and what to beware of. False when that was all there is to do.
bool explain(Context& ctx, const std::vector<std::string>& lines,
             const std::vector<std::string>& cautions, const RunChoices& choices) {
    if (choices.explain || choices.dry_run)
        for (const std::string& line : lines) (choices.dry_run ? ctx.out : ctx.err).line(line);
    for (const std::string& caution : cautions) ctx.err.line(caution);
    if (choices.dry_run) return false;
    ctx.err.flush();
    return true;
}

int status_of(const MonitorPrinter& printer, bool is_complete, const RunChoices& choices) {
    if (!is_complete && choices.strict) return kLostData;
    return printer.exit_status().value_or(kOk);
}

// Returns an exit status, or a signal that ended the run as a negative number.
int run_live(Context& ctx, Program program, RunChoices choices) {
    LiveRun live(choices.duration);
    const auto interval = parse_interval(choices.interval);
    const std::uint32_t pid = wanted_process(program, choices.parameters);
    KernelFacts machine;
    Monitor monitor =
        make_monitor(std::move(program), {take_choice(choices), {}}, machine, choices.verbose);
    if (!explain(ctx, monitor.explanation(), monitor.cautions(), choices)) return kOk;

    std::optional<FreezeOn> freeze;
    if (choices.freeze_on)
        freeze.emplace(monitor.program(), *choices.freeze_on,
                       open_session({choices.session.value_or(""), false}));
    live.hold(std::move(choices.command));
    MonitorReader reader(monitor, live.stop_fd());
    monitor.attach();
    LiveSymbols names(monitor, choices.lines ? CodeFile::Lines::yes : CodeFile::Lines::no);
    names.watch(pid);
    for (const int fd : names.fds()) reader.wake_for(fd);
    MonitorPrinter printer(ctx, monitor, choices, names.names());
    std::optional<Top> top;
    if (choices.top && ::isatty(ctx.out.fd()) != 0)
        top.emplace(ctx, monitor.program(), printer, *choices.interval);
    if (top && top->key_fd() != -1) reader.wake_for(top->key_fd());
    const VisitRecord take = [&](const RecordLayout& layout, std::span<const std::byte> record) {
        if (freeze) freeze->look_at(layout, record);
        if (layout.is_for_freeze()) return;
        top ? printer.pass() : printer.tell(layout, record);
    };
    live.begin();
    Ticks ticks(interval);
    const auto goes_on = [&] {
        return (!top || top->handle_keys()) && !live.is_over() && !printer.exit_status() &&
               !(freeze && freeze->is_frozen());
    };
    do {
        reader.wait(std::min(live.left(), ticks.left()));
        printer.begin_batch();
        names.drain();
        reader.drain(take);
        if (ticks.passed()) top ? top->tick(monotonic_ns()) : printer.tell_interval(monotonic_ns());
        printer.flush();
    } while (goes_on());
    top.reset();
    monitor.run_end();
    printer.tell_on();
    reader.drain(take);
    const bool is_complete = printer.tell_end(monotonic_ns(), reader.losses());
    if (freeze && choices.json) ctx.out.line(freeze->end_json());
    for (const std::string& note : names.notes()) ctx.err.line(note);
    if (freeze) ctx.err.line(freeze->end_text());
    monitor.detach();
    if (const std::string line = live.command_end(); !line.empty()) ctx.err.line(line);
    ctx.out.flush();
    ctx.err.flush();
    if (const int signal = live.finish(); signal != 0) return signal;
    return status_of(printer, is_complete, choices);
}

// Goes through the recording until its end, the duration's, an exit action's, or a signal's, which
// is returned; else 0. `now_ns` becomes the time it came to.
int go_through(Replay& replay, MonitorPrinter& printer, const VisitRecord& take,
               const RunChoices& choices, std::uint64_t& now_ns) {
    constexpr std::size_t kBatch = 4096;
    const auto ns = [](std::chrono::nanoseconds time) {
        return static_cast<std::uint64_t>(time.count());
    };
    const auto interval = parse_interval(choices.interval);
    std::uint64_t next_tick = kNever, end = kNever;
    StopSignals signals;
    for (std::size_t count = 0; const auto now = replay.advance(); ++count) {
        if (count == 0) {
            if (interval) next_tick = *now + ns(*interval);
            if (choices.duration) end = *now + ns(parse_duration("--duration", *choices.duration));
        }
        if (*now >= end) break;
        now_ns = *now;
        if (*now >= next_tick) {
            printer.tell_interval(next_tick);
            next_tick += ((*now - next_tick) / ns(*interval) + 1) * ns(*interval);
        }
        replay.run(take);
        if (printer.exit_status()) break;
        if (count % kBatch != 0) continue;
        printer.flush();
        if (const int signal = signals.take(); signal != 0) return signal;
    }
    return 0;
}

// The same over a recording, as fast as it goes.
int run_over_recording(Context& ctx, Program program, RunChoices choices) {
    TraceFile file(*choices.input);
    Replay replay(std::move(program), take_choice(choices), file);
    if (!explain(ctx, replay.explanation(), replay.cautions(), choices)) return kOk;
    MonitorPrinter printer(ctx, replay, choices, recorded_names(file.context()));
    const VisitRecord take = [&](const RecordLayout& layout, std::span<const std::byte> record) {
        printer.tell(layout, record);
    };
    std::uint64_t now_ns = 0;
    const int signal = go_through(replay, printer, take, choices, now_ns);
    printer.tell_on();
    replay.run_end(take);
    const bool is_complete = printer.tell_end(now_ns, replay.losses());
    for (const std::string& note : replay.notes()) ctx.err.line(note);
    ctx.out.flush();
    ctx.err.flush();
    if (signal != 0) return -signal;
    return status_of(printer, is_complete, choices);
}

int run(Context& ctx, Program program, RunChoices choices) {
    check_choices(choices, program);
    if (choices.top && !choices.interval) choices.interval = "1s";
    if (choices.freeze_on && program.find_parameter(kFreezing))
        choices.parameters.numbers[kFreezing] = 1;
    return choices.input ? run_over_recording(ctx, std::move(program), std::move(choices))
                         : run_live(ctx, std::move(program), std::move(choices));
}

}  // namespace

void add_run_options(Options& options, RunChoices& choices) {
    options.condition(choices.condition)
        .duration(choices.duration)
        .interval(choices.interval)
        .input(choices.input)
        .strict(choices.strict)
        .flag("folded", choices.folded, "stacks that maps counted, as flamegraph.pl reads them")
        .flag("lines", choices.lines, "source lines in stacks, where debug information has them")
        .flag("explain", choices.explain, "say where each program runs and how, on stderr")
        .flag("dry-run", choices.dry_run,
              "load the programs and say where each would run; attach nothing")
        .json(choices.json)
        .flag("verbose,v", choices.verbose, "show the verifier's whole log of what it refuses");
}

void add_freeze_options(Options& options, RunChoices& choices) {
    options
        .value("freeze-on", choices.freeze_on, "EXPR",
               "stop a session's buffer at the first job, wait or event with this, and end")
        .value("session", choices.session, "NAME",
               "the session that --freeze-on stops (default: gpufs)");
}

int run_program(Context& ctx, Program program, RunChoices choices) {
    const int status = run(ctx, std::move(program), std::move(choices));
    if (status < 0) die_of(-status);
    return status;
}

}  // namespace gpufs
