#include <unistd.h>

#include "base/error.h"
#include "cmd/run/adhoc.h"
#include "engine/monitor/hist_latency.h"
#include "kernel/host/pid_namespace.h"
#include "kernel/host/proc_task.h"
#include "lang/event/task_naming.h"

namespace gpufs {
namespace {

// What --in-kernel asks of hist triggers.
struct InKernel {
    bool is_asked = false, tells_longest = false;
};

// What hist triggers cannot do, whatever the words are.
void check_in_kernel(const InKernel& in_kernel, const AdhocChoices& choices, bool has_over) {
    if (!in_kernel.is_asked) {
        if (in_kernel.tells_longest) throw UsageError("--longest goes with --in-kernel");
        return;
    }
    constexpr const char* kInstead = "leave --in-kernel away";
    if (has_over)
        throw UsageError("--over tells pairs as they happen: not with --in-kernel", kInstead);
    if (choices.run.input)
        throw UsageError("-i asks a recording, and --in-kernel this kernel", kInstead);
    if (in_kernel.tells_longest && choices.run.interval)
        throw UsageError("--longest is told at the end: not with --interval");
}

// The threads that -p means now; `has_process`: one of these names a process.
std::vector<int> tasks_of(const std::vector<int>& pids, bool& has_process) {
    std::vector<int> threads;
    for (const int pid : pids) {
        if (proc::tgid(pid) != pid) {
            threads.push_back(pid);
            continue;
        }
        has_process = true;
        for (const int thread : proc::threads(pid)) threads.push_back(thread);
    }
    return threads;
}

// The kernel compares pids with its list where an event happens; but these go by the tasks that
// they are about, too.
bool is_about_other_tasks(const AdhocEvent& event) {
    const std::string name = event.format.full_name();
    return name == "sched:sched_switch" || is_wakeup(name);
}

// Who wakes a task is not who runs then.
void note_key(AdhocAsker& asker, const AdhocLatency& latency, std::span<const AdhocEvent> ends) {
    for (const AdhocEvent& start : latency.starts) {
        if (!is_wakeup(start.format.full_name())) continue;
        const bool is_switch = ends.front().format.full_name() == "sched:sched_switch";
        asker.note(cat(start.format.full_name(),
                       " happens in the task that wakes, and a pair is of one thread, unless --key "
                       "has fields that say which task is meant",
                       is_switch ? ": --key pid=next_pid" : ""));
        return;
    }
}

int run_in_kernel(Context& ctx, const AdhocChoices& choices, AdhocAsker& asker,
                  AdhocLatency& latency, const InKernel& in_kernel) {
    require_latency_hists();
    const AdhocWord& start_word = asker.subjects()[0];
    latency.starts = {asker.find_traced(start_word)};
    const AdhocQuestion question = asker.question({asker.find_traced(asker.subjects()[1])});
    LatencyHistChoice choice;
    choice.tells_longest = in_kernel.tells_longest;
    choice.threads = tasks_of(choices.pids, choice.counts_new_threads);
    choice.counts_new_threads =
        choice.counts_new_threads && asker.find_tracepoint("task:task_newtask");
    if (!choices.run.self && !choices.run.follows && own_pid_namespace().is_initial())
        choice.left_out = ::getpid();
    const LatencyHists hists = make_latency_hists(question, latency, choice);
    if (choices.run.follows) {
        constexpr const char* kInstead =
            "--all looks at the whole machine; or leave --in-kernel away";
        if (!hists.is_in_one_thread)
            throw UsageError(
                "the kernel follows a COMMAND only where START and END are of one thread: not "
                "with this --key",
                kInstead);
        if (is_about_other_tasks(latency.starts.front()))
            throw SourceError(question.sources.front(), start_word.at.span,
                              "the kernel's list of tasks lets this event through for the tasks "
                              "that it is about, too: a COMMAND cannot be followed by it",
                              kInstead);
    }
    return asker.run(ctx, hists);
}

}  // namespace

int cmd_latency(Context& ctx, Args args) {
    AdhocChoices choices;
    AdhocLatency latency;
    InKernel in_kernel;
    std::optional<std::chrono::nanoseconds> over;
    const auto set_key = [&](const std::string& text) {
        const SourceText source{"--key", text};
        latency.pairs = parse_adhoc_pairs(source, choices.add_source(source));
    };
    const auto set_shown = [&](const std::string& text) {
        const SourceText source{"--show", text};
        latency.shown = parse_adhoc_names(source, choices.add_source(source));
    };
    const auto set_unit = [&](const std::string& text) {
        if (nanoseconds_in(text) == 0)
            throw UsageError(cat("--unit is ns, us, ms or s, not '", text, "'"));
        latency.unit = text;
    };
    Options options(
        "latency START [END] [--key FIELD[=FIELD],…] [by KEY,…] [--over T] [--if EXPR] "
        "[-- COMMAND]",
        "Shows how long it takes from one event to another, as a histogram, one for each key as\n"
        "'gpufs count' has them: of END or, where END does not have it, of START (start.KEY:\n"
        "always of START). A start belongs to the next end with the same --key: fields of START\n"
        "and END, or tid, pid, cpu. Without END: until the function or system call returns.");
    options
        .parsed("key", "FIELD[=FIELD]",
                "fields that a start and its end share: START's[=END's] (default: tid)", set_key)
        .time("over", over,
              "print also each that takes so long or longer, as it happens (500us, 1ms)")
        .parsed("show", "KEY,…", "what the lines of --over have besides the keys and the process",
                set_shown)
        .parsed("unit", "UNIT", "of the histogram: ns, us, ms or s (default: us)", set_unit)
        .flag("in-kernel", in_kernel.is_asked,
              "by hist triggers of the kernel, without BPF: events of tracefs only")
        .flag("longest", in_kernel.tells_longest,
              "with --in-kernel: say which pair took longest, and what was recorded meanwhile");
    add_histogram_options(options, choices.run.pictures);
    if (!parse_adhoc(ctx, args, options, choices, AdhocSubjects::start_and_end)) return kOk;
    const bool has_key = !latency.pairs.empty();
    if (!has_key) set_key("tid");
    if (!latency.shown.empty() && !over) throw UsageError("--show goes with --over");
    check_in_kernel(in_kernel, choices, over.has_value());
    AdhocAsker asker("latency", choices);
    asker.require_subjects(choices.starts + 1, choices.starts + choices.ends, "a START and an END");
    if (in_kernel.is_asked) return run_in_kernel(ctx, choices, asker, latency, in_kernel);
    if (over) latency.over_ns = static_cast<std::uint64_t>(over->count());
    const std::span words(asker.subjects());
    std::vector<AdhocWord> of_starts = latency.shown, of_ends = latency.shown;
    for (const AdhocPair& pair : latency.pairs) {
        of_starts.push_back(pair.start);
        of_ends.push_back(pair.end);
    }
    const auto start_words = words.first(choices.starts), end_words = words.subspan(choices.starts);
    if (start_words[0].text == end_words[0].text) {  // one event, which knows all words
        for (const AdhocWord& word : std::exchange(of_starts, of_ends)) of_starts.push_back(word);
        of_ends = of_starts;
    }
    latency.starts = asker.find_events(start_words, of_starts, true);
    std::vector<AdhocEvent> ends = asker.find_events(end_words, of_ends, true);
    // What is wrong with both is told once, of what the user wrote.
    if (choices.has_added_end)
        for (AdhocEvent& end : ends) end.target.at = latency.starts.front().target.at;
    if (!has_key && !choices.run.follows) note_key(asker, latency, ends);
    latency.thread_exit = asker.find_tracepoint("sched:sched_process_exit");
    return asker.run(ctx, make_latency(asker.question(std::move(ends)), latency));
}

}  // namespace gpufs
