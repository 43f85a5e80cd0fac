#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/clock.h"
#include "base/decimal.h"
#include "base/error.h"
#include "base/glob.h"
#include "base/sorted.h"
#include "base/text.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/page_file.h"
#include "cmd/shared/pictures.h"
#include "cmd/shared/run_loop.h"
#include "cmd/shared/session_choice.h"
#include "engine/session/freeze.h"
#include "engine/stall/hunt.h"
#include "view/duration.h"
#include "view/json.h"
#include "view/losses.h"
#include "view/pictures/flame_svg.h"
#include "view/stall/summary.h"
#include "view/stall/text.h"
#include "view/stall/timeline.h"

namespace gpufs {
namespace {

struct StallOptions {
    std::vector<int> pids;
    std::vector<std::string> command;
    std::optional<std::string> comm, session;
    PictureChoices pictures;
    std::optional<StateSet> states;
    std::optional<std::chrono::nanoseconds> over, duration;
    Controls controls = Controls::escaped;
    bool children = false, freeze = false, json = false, strict = false, explain = false;
};

// "3 stalls"
std::string count_text(std::uint64_t n) {
    return counted(static_cast<std::size_t>(n), "stall");
}

std::vector<StallHunt::Target> find_targets(const StallOptions& choices) {
    std::vector<StallHunt::Target> targets;
    for (const int pid : choices.pids) {
        targets.push_back({pid, proc::require_tgid(pid) != pid});
    }
    if (!choices.comm) return targets;
    const std::size_t named = targets.size();
    for (const int pid : proc::processes())
        if (pid != ::getpid() && glob_match(*choices.comm, proc::comm(pid)))
            targets.push_back({pid, false});
    if (targets.size() == named)
        throw Error(cat("no process is named '", *choices.comm, "'"),
                    "the name in /proc/PID/comm counts, of at most 15 characters; '*' matches any");
    return targets;
}

// What is drawn of stalls. The files must be writable before anything is watched.
class StallPictures {
public:
    explicit StallPictures(const PictureChoices& choices) : choices_(choices) {
        if (choices.html) page_.emplace(*choices.html, title());
        if (choices.flame) flame_.emplace(*choices.flame);
    }

    void begin(StallHunt& hunt) {
        if (page_)
            timeline_.emplace(page_->writer(), hunt.context(), hunt.syscalls(), monotonic_ns());
    }

    // The time of a stall is that of its stack, above the task and the system call.
    void add(const Stall& stall, const std::string& call, const AddressNames& names) {
        if (timeline_) timeline_->add(stall);
        if (!flame_) return;
        std::vector<StackFrame> frames;
        for (const std::string& function : stack_functions(stall, names))
            frames.push_back({function, kernel_frame_kind(function)});
        if (frames.empty()) frames.push_back({"[no stack]", FrameKind::kernel});
        frames.push_back({call, FrameKind::key});
        frames.push_back({stall.comm, FrameKind::key});
        if (!choices_.is_reversed) std::ranges::reverse(frames);
        tree_.add(frames, stall.duration_ns());
    }

    void write(const StallSummary& summary, const std::string& note) {
        if (page_) {
            page_->writer().add_report("Stalls", summary.to_text());
            page_->writer().add_note(note);
            page_->finish();
        }
        if (flame_)
            flame_->write(
                flame_svg({{"Stalls", "ns", std::move(tree_)}}, {title(), choices_.is_icicle}));
    }

private:
    std::string title() const { return choices_.title.value_or("gpufs stall"); }

    const PictureChoices& choices_;
    std::optional<PageFile> page_;
    std::optional<StallTimeline> timeline_;
    std::optional<WholeFile> flame_;
    FlameTree tree_;
};

// Tells the stalls as they come, and adds them up.
class StallPrinter {
public:
    StallPrinter(Context& ctx, StallHunt& hunt, bool is_json, StallPictures& pictures)
        : ctx_(ctx),
          hunt_(hunt),
          text_(hunt.context(), hunt.syscalls()),
          pictures_(pictures),
          is_json_(is_json) {
        pictures.begin(hunt);
    }

    void tell_new() {
        for (const Stall& stall : hunt_.take_noted()) tell(stall);
        for (const Stall& stall : hunt_.take_ended()) {
            tell(stall);
            add_up(stall);
        }
        ctx_.out.flush();
    }

    void tell_end(double cpu_share, const StateSet& states, std::uint64_t over_ns,
                  const LossLedger& losses) {
        const std::vector<Stall> ongoing = hunt_.ongoing();
        for (const Stall& stall : ongoing) add_up(stall);
        if (is_json_) {
            for (const Stall& stall : ongoing) tell(stall);
            tell_summary_json(
                static_cast<std::size_t>(std::ranges::count_if(ongoing, &Stall::is_ongoing)),
                cpu_share, losses);
        } else {
            if (!ongoing.empty()) ctx_.out.line("\nNot over yet:");
            for (const Stall& stall : ongoing) tell(stall);
            if (summary_.count() != 0)
                ctx_.out.write(cat("\n", summary_.to_text(hunt_.context().controls), "\n"));
        }
        ctx_.out.flush();
        std::string line = cat(count_text(summary_.count()), " over ", duration_text(over_ns),
                               " in state ", states.to_text());
        const auto blocked = std::ranges::count_if(ongoing, &Stall::is_ongoing);
        if (blocked != 0) line += cat(", ", blocked, " of them ongoing");
        ctx_.err.line(line);
        tell_others();
        ctx_.err.line(cat(losses_text(losses), "; gpufs took ", decimal(cpu_share * 100, 1),
                          " % of a CPU and ", hunt_.buffer_bytes() >> 10, " kB of trace buffer"));
        for (const std::string& what : hunt_.damage())
            ctx_.err.line(cat("gpufs: damaged page: ", what));
        pictures_.write(summary_, cat(line, "; ", losses_text(losses)));
    }

private:
    static constexpr std::size_t kShortStack = 5;

    void add_up(const Stall& stall) {
        const std::string in = call(stall);
        summary_.add(stall, place(stall), in);
        pictures_.add(stall, in, hunt_.context().addresses);
    }
    void tell(const Stall& stall) {
        if (is_json_)
            ctx_.out.line(stall_json(stall, hunt_.context(), hunt_.syscalls()));
        else
            ctx_.out.write(text_.print(stall));
    }
    std::vector<std::string> place(const Stall& stall) {
        return stack_in_short(stack_functions(stall, hunt_.context().addresses), kShortStack);
    }
    std::string call(const Stall& stall) {
        return stall.syscall.known == SyscallState::Known::yes
                   ? hunt_.syscalls().name(stall.syscall.call.nr)
                   : text_.syscall(stall);
    }
    void tell_others() {
        std::string text, states;
        for (const auto& [state, other] : hunt_.others()) {
            text += cat(text.empty() ? "" : ", ", other.count, " in ", static_cast<char>(state),
                        " (longest ", other.is_longest_ongoing ? "> " : "",
                        duration_text(other.longest_ns),
                        other.is_longest_ongoing ? ", not over yet)" : ")");
            states += cat(states.empty() ? "" : ",", static_cast<char>(state));
        }
        if (!text.empty())
            ctx_.err.line(cat("not shown: ", text, "; --state ", states, " shows them"));
    }
    void tell_summary_json(std::size_t ongoing, double cpu_share, const LossLedger& losses) {
        ctx_.out.write(summary_.to_json());
        JsonObject summary;
        summary_.add_to(summary);
        JsonArray others;
        for (const auto& [state, other] : hunt_.others())
            others.add(JsonObject()
                           .text("state", std::string(1, static_cast<char>(state)))
                           .number("count", other.count)
                           .number("longest_ns", other.longest_ns)
                           .number("ongoing", other.ongoing)
                           .done());
        summary.number("ongoing", ongoing).raw("not_shown", others.done());
        add_loss(summary, "lost", losses.total())
            .raw("losses", losses_json(losses))
            .raw("cpu_share", decimal(cpu_share, 4))
            .number("buffer_bytes", hunt_.buffer_bytes());
        ctx_.out.line(JsonObject().raw("summary", summary.done()).done());
    }

    Context& ctx_;
    StallHunt& hunt_;
    StallText text_;
    StallSummary summary_;
    StallPictures& pictures_;
    bool is_json_;
};

// "watching 3 tasks of 1 process: 2 S in do_epoll_wait, 1 R"
std::string start_text(const StallHunt& hunt) {
    std::map<std::string, std::size_t> doing;
    std::map<int, int> processes;
    for (const Stall& task : hunt.at_start()) {
        std::string what(1, static_cast<char>(task.state));
        if (task.state != TaskState::runnable)
            if (const std::string wchan = proc::wchan(task.tid); !wchan.empty())
                what += " in " + wchan;
        ++doing[what];
        ++processes[proc::tgid(task.tid)];
    }
    std::string text = cat("watching ", counted(hunt.at_start().size(), "task"), " of ",
                           processes.size(), processes.size() == 1 ? " process" : " processes");
    std::vector<std::pair<std::size_t, std::string>> rows;
    rows.reserve(doing.size());
    for (const auto& [what, n] : doing) rows.emplace_back(n, what);
    sort_stably(rows, std::greater<>());
    for (std::size_t i = 0; i < std::min<std::size_t>(4, rows.size()); ++i)
        text += cat(i == 0 ? ": " : ", ", rows[i].first, " ", rows[i].second);
    return text + (rows.size() > 4 ? ", ..." : "");
}

double cpu_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Ends with the run, with the stall that froze the session, and with the last watched task.
void tell_until_over(RunLoop& loop, StallHunt& hunt, StallPrinter& printer, const bool& is_frozen) {
    for (;;) {
        const bool goes_on = hunt.wait(loop.wake_fd(), loop.left());
        hunt.round();
        printer.tell_new();
        if (loop.is_over() || is_frozen) return;
        // Watched processes that end take their tasks with them.
        if (goes_on && !loop.command() && hunt.tracker().watched() == 0) return;
    }
}

std::string frozen_text(const Session& session) {
    return cat(session.described(), " stopped at the first of them: 'gpufs show", session.option(),
               "' has what led to it, 'gpufs reset", session.option(), "' removes it");
}

int hunt_stalls(Context& ctx, const StallOptions& choices) {
    StallTracker::Choice what;
    what.states = choices.states.value_or(StateSet::parse("--state", "D"));
    what.over_ns =
        static_cast<std::uint64_t>(choices.over.value_or(std::chrono::milliseconds(1)).count());
    what.children = choices.children || !choices.command.empty();
    StallPictures pictures(choices.pictures);
    RunLoop loop(choices.duration);
    // Before anything is opened that the command would keep open.
    loop.hold(choices.command, command_output(ctx.out, choices.json));
    const Session session = open_session({choices.session.value_or(""), false});
    std::vector<StallHunt::Target> targets = find_targets(choices);

    std::unique_ptr<FreezeSession> freeze;
    StallHunt hunt(session.top(), what);
    bool is_frozen = false;
    if (choices.freeze) {
        freeze = std::make_unique<FreezeSession>(session, [&what](const Tracefs& instance) {
            disable_stall_events(instance, what.states);
            return std::vector<std::string>();
        });
        hunt.record_in(session.tracefs());
        hunt.when_over([&] {
            freeze->freeze();
            is_frozen = true;
        });
    }
    if (choices.explain) {
        for (const std::string& line : hunt.explanation()) ctx.err.line(line);
        ctx.err.flush();
    }
    const bool has_command = loop.command() != nullptr;
    if (has_command) {
        targets.push_back({loop.command()->pid(), false});
        hunt.expect(loop.command()->file());
    }
    hunt.attach(targets, has_command);
    if (hunt.stacks() == Stacks::no)
        ctx.err.line(
            "on this kernel a session's stacks go to the top-level buffer: they are taken "
            "from /proc, for stalls that last");
    hunt.context().controls = choices.controls;
    StallPrinter printer(ctx, hunt, choices.json, pictures);
    const double used_before = cpu_seconds();
    loop.begin();
    if (!has_command) {
        ctx.err.line(start_text(hunt));
        ctx.err.flush();
        printer.tell_new();
    }
    tell_until_over(loop, hunt, printer, is_frozen);
    hunt.finish();
    printer.tell_new();
    const std::chrono::duration<double> took = loop.lasted();
    const LossLedger losses = hunt.losses();
    printer.tell_end((cpu_seconds() - used_before) / std::max(took.count(), 1e-3), what.states,
                     what.over_ns, losses);
    if (const std::string line = loop.command_end(); !line.empty()) ctx.err.line(line);
    if (choices.freeze) ctx.err.line(is_frozen ? frozen_text(session) : "nothing to freeze for");
    ctx.err.flush();
    return loop.exit_status(status_of(choices.strict, losses));
}

}  // namespace

int cmd_stall(Context& ctx, Args args) {
    StallOptions choices;
    std::vector<std::string> words;
    Options options(
        "stall -p PID… | --comm GLOB | -- COMMAND [--state D|S|R|any] [--over 1ms]",
        "Says what kept tasks from running: for each stall when, how long, the kernel stack, the\n"
        "system call, the file behind it, and who ended it. States: D sleeps and takes no signal,\n"
        "S sleeps, R could run but has no CPU.");
    options
        .pids(choices.pids, "the process with its threads, or one thread by its own id; repeated")
        .value("comm", choices.comm, "GLOB", "the processes whose name matches a shell pattern")
        .parsed("state", "STATES", "D (the default), S, R, T, t, P, I, several with commas, or any",
                [&](const std::string& text) { choices.states = StateSet::parse("--state", text); })
        .time("over", choices.over, "only what takes this long or longer (default: 1ms)")
        .flag("children", choices.children, "processes that these have started or start, too")
        .duration(choices.duration)
        .flag("freeze", choices.freeze, "stop a session's buffer at the first stall, and end")
        .output()
        .value("html", choices.pictures.html, "FILE",
               "draw it as one page with a timeline, for a browser");
    add_picture_options(options, choices.pictures);
    options.strict(choices.strict)
        .flag("explain", choices.explain, "say how the tasks are watched, and why so, on stderr")
        .json(choices.json)
        .raw(choices.controls)
        .session_name(choices.session, "the session that --freeze stops (default: gpufs)");
    choices.command = take_command(args);
    if (!options.parse(ctx, args, words)) return kOk;
    check_words(words, 0, "a command to run stands behind --");
    const int ways = !choices.pids.empty() + choices.comm.has_value() + !choices.command.empty();
    if (ways == 0)
        throw UsageError("stall needs processes to watch", "-p PID, --comm GLOB or -- COMMAND");
    if (!choices.command.empty() && ways > 1)
        throw UsageError(cat(choices.comm ? "--comm" : "-p", " does not go with a COMMAND"));
    check_pictures(choices.pictures);
    if (choices.session && !choices.freeze) throw UsageError("--session goes with --freeze");
    return hunt_stalls(ctx, choices);
}

}  // namespace gpufs
