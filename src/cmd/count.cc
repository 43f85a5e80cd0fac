#include "cmd/run/adhoc.h"

namespace gpufs {

int cmd_count(Context& ctx, Args args) {
    AdhocChoices choices;
    Options options(
        "count EVENT… [by KEY,…] [--if EXPR] [--duration T] [-- COMMAND]",
        "Counts how often events happen, by keys: fields of the event, comm, pid, tid, cpu, uid,\n"
        "cgroup, kstack, ustack, probe; func: which function of a pattern; str(FIELD): the text\n"
        "at an address. EVENT is SYSTEM:EVENT or a shell pattern of it, kprobe:FUNCTION,\n"
        "kretprobe:FUNCTION, uprobe:PATH:FUNCTION, uretprobe:PATH:FUNCTION,\n"
        "usdt:PATH:PROVIDER:NAME, profile:99hz. PATH may be a library's name: libc.");
    if (!parse_adhoc(ctx, args, options, choices, AdhocSubjects::events)) return kOk;
    AdhocAsker asker("count", choices);
    asker.require_subjects(1, choices.words.size(), "an EVENT");
    AdhocQuestion question = asker.question(asker.find_events(asker.subjects()));
    const std::string dropped = drop_events_without_fields(question);
    if (!dropped.empty()) ctx.err.line(dropped);
    return asker.run(ctx, make_count(question));
}

}  // namespace gpufs
