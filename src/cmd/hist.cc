#include "cmd/run/adhoc.h"

namespace gpufs {

int cmd_hist(Context& ctx, Args args) {
    AdhocChoices choices;
    Aggregation how;
    how.kind = Aggregation::Kind::log2;
    Options options(
        "hist EVENT FIELD [by KEY,…] [--linear LOW:HIGH:STEP] [--if EXPR] [-- COMMAND]",
        "Shows how large a field's values are: a histogram by powers of two, or in steps of one\n"
        "size; one for each key as 'gpufs count' has them.");
    options.parsed("linear", "LOW:HIGH:STEP", "steps of one size instead of powers of two",
                   [&](const std::string& text) {
                       how = parse_linear({"--linear", text});
                   });
    add_histogram_options(options, choices.run.pictures);
    if (!parse_adhoc(ctx, args, options, choices, AdhocSubjects::event_and_field)) return kOk;
    AdhocAsker asker("hist", choices);
    asker.require_subjects(2, 2, "an EVENT and a FIELD");
    const AdhocWord field = asker.subjects()[1];
    AdhocQuestion question = asker.question(
        asker.find_events(std::span(asker.subjects()).first(1), std::span(&field, 1)));
    const std::string dropped = drop_events_without_fields(question, {field});
    if (!dropped.empty()) ctx.err.line(dropped);
    return asker.run(ctx, make_hist(question, field, how));
}

}  // namespace gpufs
