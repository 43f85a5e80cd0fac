#include "base/units.h"
#include "cmd/shared/adhoc.h"

namespace gpufs {

int cmd_latency(Context& ctx, Args args) {
    AdhocChoices choices;
    std::optional<std::string> key, over, unit;
    Options options(
        "latency START END [--key FIELD[=FIELD],…] [by KEY,…] [--over T] [--if EXPR] [-- COMMAND]",
        "Shows how long it takes from one event to another, as a histogram, one for each key as\n"
        "'gpufs count' has them. A start belongs to the next end with the same --key: fields of\n"
        "START and END, or tid, pid, cpu.");
    options
        .value("key", key, "FIELD[=FIELD]",
               "fields that a start and its end share: START's[=END's] (default: tid)")
        .value("over", over, "T",
               "print also each that takes so long or longer, as it happens (500us, 1ms)")
        .value("unit", unit, "UNIT", "of the histogram: ns, us, ms or s (default: us)");
    if (!parse_adhoc(ctx, args, options, choices)) return kOk;
    AdhocAsker asker("latency", choices);
    asker.require_subjects(2, 2, "a START and an END");
    AdhocLatency latency;
    const SourceText key_text{"--key", key.value_or("tid")};
    latency.pairs = parse_adhoc_pairs(key_text, asker.add_source(key_text));
    if (over) latency.over_ns = static_cast<std::uint64_t>(parse_duration("--over", *over).count());
    if (unit) latency.unit = *unit;
    if (nanoseconds_in(latency.unit) == 0)
        throw UsageError(cat("--unit is ns, us, ms or s, not '", latency.unit, "'"));
    const std::span words(asker.subjects());
    latency.starts = asker.find_events(words.first(1));
    std::vector<AdhocEvent> ends = asker.find_events(words.last(1));
    latency.thread_exit = asker.find_tracepoint("sched:sched_process_exit");
    return asker.run(ctx, make_latency(asker.question(std::move(ends)), latency));
}

}  // namespace gpufs
