#include "cmd/run/adhoc.h"

namespace gpufs {

int cmd_stacks(Context& ctx, Args args) {
    AdhocChoices choices;
    Options options(
        "stacks EVENT… [by KEY,…] [--if EXPR] [--duration T] [-- COMMAND]",
        "Counts from where events happen: by kernel and user stack, and keys as 'gpufs count' has\n"
        "them.");
    if (!parse_adhoc(ctx, args, options, choices, AdhocSubjects::events)) return kOk;
    AdhocAsker asker("stacks", choices);
    asker.require_subjects(1, choices.words.size(), "an EVENT");
    AdhocQuestion question = asker.question(asker.find_events(asker.subjects()));
    const std::string dropped = drop_events_without_fields(question);
    if (!dropped.empty()) ctx.err.line(dropped);
    return asker.run(ctx, make_stacks(question));
}

}  // namespace gpufs
