#include "cmd/run/adhoc.h"

namespace gpufs {

int cmd_stats(Context& ctx, Args args) {
    AdhocChoices choices;
    std::string sort = "sum";
    Options options("stats EVENT FIELD [by KEY,…] [--sort COLUMN] [--if EXPR] [-- COMMAND]",
                    "Shows how often an event happens, and sum, average, minimum and maximum of a\n"
                    "number in it: a row for each key as 'gpufs count' has them.");
    options.parsed("sort", "COLUMN", "count, sum, avg, min, max or key (default: sum)",
                   [&](const std::string& text) {
                       constexpr std::string_view kColumns[] = {"count", "sum", "avg",
                                                                "min",   "max", "key"};
                       if (std::ranges::count(kColumns, text) == 0)
                           throw UsageError(
                               cat("--sort is count, sum, avg, min, max or key, not '", text, "'"));
                       sort = text;
                   });
    if (!parse_adhoc(ctx, args, options, choices, AdhocSubjects::event_and_field)) return kOk;
    AdhocAsker asker("stats", choices);
    asker.require_subjects(2, 2, "an EVENT and a FIELD");
    const AdhocWord field = asker.subjects()[1];
    AdhocQuestion question = asker.question(
        asker.find_events(std::span(asker.subjects()).first(1), std::span(&field, 1)));
    const std::string dropped = drop_events_without_fields(question, {field});
    if (!dropped.empty()) ctx.err.line(dropped);
    Program program = make_stats(question, field);
    program.reports.front().sort = sort;
    return asker.run(ctx, std::move(program));
}

}  // namespace gpufs
