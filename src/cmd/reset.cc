#include "engine/session/reset.h"

#include "base/error.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/session_choice.h"
#include "engine/session/stale.h"
#include "engine/trace/kernel_events.h"

namespace gpufs {

int cmd_reset(Context& ctx, Args args) {
    std::vector<std::string> words, events;
    SessionChoice choice;
    bool stale = false, dry_run = false;
    Options options(
        "reset [--session NAME] | --stale | --global -e EVENT…",
        "Removes what a session set: triggers, filters, probes, its instance. Everybody\n"
        "else's stays. The top-level buffer is shared, so there the events are named.");
    options.session(choice)
        .events(events)
        .flag("stale", stale, "remove what commands that were killed left behind, nothing else")
        .dry_run(dry_run);
    if (!options.parse(ctx, args, words)) return kOk;
    check_words(words, 0);
    if (stale) {
        if (choice.global || !choice.name.empty() || !events.empty())
            throw UsageError("--stale takes no session and no events");
        const auto removed = remove_stale(find_tracefs(), dry_run ? Stale::told : Stale::removed);
        for (const std::string& what : removed)
            dry_run ? ctx.out.line(cat("would remove ", what))
                    : ctx.err.line(cat("removed ", what));
        if (removed.empty()) ctx.err.line("nothing was left behind");
        return kOk;
    }
    if (choice.global && events.empty())
        throw UsageError("the top-level buffer is shared: gpufs cannot tell what there is ours",
                         "name the events: gpufs reset --global -e EVENT…; 'gpufs status --global' "
                         "shows what is set");
    const Session session = open_session(choice);
    if (!session.exists()) {
        ctx.err.line(cat("there is no ", session.described(), ": nothing to reset"));
        return kOk;
    }
    const SessionPlan plan =
        events.empty() ? plan_reset(session)
                       : plan_reset_events(session, kernel_events(session.top()).match(events));
    apply_or_print(ctx, plan.changes, dry_run);
    if (!dry_run)
        for (const std::string& note : plan.notes) ctx.err.line(note);
    return kOk;
}

}  // namespace gpufs
