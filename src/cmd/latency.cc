#include "cmd/run/adhoc.h"

namespace gpufs {

int cmd_latency(Context& ctx, Args args) {
    AdhocChoices choices;
    AdhocLatency latency;
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
        .parsed("unit", "UNIT", "of the histogram: ns, us, ms or s (default: us)", set_unit);
    add_histogram_options(options, choices.run.pictures);
    if (!parse_adhoc(ctx, args, options, choices, AdhocSubjects::start_and_end)) return kOk;
    if (latency.pairs.empty()) set_key("tid");
    if (!latency.shown.empty() && !over) throw UsageError("--show goes with --over");
    AdhocAsker asker("latency", choices);
    asker.require_subjects(2, 2, "a START and an END");
    if (over) latency.over_ns = static_cast<std::uint64_t>(over->count());
    const std::span words(asker.subjects());
    std::vector<AdhocWord> of_starts = latency.shown, of_ends = latency.shown;
    for (const AdhocPair& pair : latency.pairs) {
        of_starts.push_back(pair.start);
        of_ends.push_back(pair.end);
    }
    latency.starts = asker.find_events(words.first(1), of_starts, true);
    std::vector<AdhocEvent> ends = asker.find_events(words.last(1), of_ends, true);
    latency.thread_exit = asker.find_tracepoint("sched:sched_process_exit");
    return asker.run(ctx, make_latency(asker.question(std::move(ends)), latency));
}

}  // namespace gpufs
