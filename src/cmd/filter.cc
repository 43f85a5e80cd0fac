#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/session_choice.h"
#include "engine/session/filters.h"
#include "engine/trace/kernel_events.h"
#include "view/json.h"

namespace gpufs {
namespace {

// The event that an expression without -e is about.
std::vector<EventFormat> find_event(const Tracefs& top, const Expression& expression) {
    if (fields_of(expression).empty())
        throw UsageError("the expression names no field that tells the event",
                         "say which: gpufs filter -e EVENT EXPR");
    return {kernel_events(top).only_with_fields_of(expression)};
}

int show_filters(Context& ctx, const Session& session, const std::vector<std::string>& words,
                 bool json) {
    if (!session.exists()) {
        tell_no_session(ctx, session, "nothing is filtered");
        return kOk;
    }
    for (const EventState& state : read_event_states(session)) {
        if (state.filter.empty()) continue;
        if (!words.empty() && std::ranges::none_of(words, [&](const std::string& word) {
                return means_event(word, state.event);
            }))
            continue;
        if (json) {
            JsonObject line;
            line.text("event", state.event).boolean("enabled", state.is_enabled);
            line.text("filter", state.filter);
            ctx.out.line(line.done());
        } else {
            ctx.out.line(cat(state.event, state.is_enabled ? ": " : " (disabled): ", state.filter));
        }
    }
    return kOk;
}

int clear_filters(Context& ctx, const SessionChoice& choice, const std::vector<std::string>& words,
                  bool dry_run) {
    const Session session = require_session(choice);
    std::vector<std::string> events;
    if (!words.empty()) {
        events = kernel_events(session.top()).match(words);
    } else if (session.is_global()) {
        throw UsageError(
            "--clear --global needs -e: gpufs cannot tell which filters there are ours",
            "'gpufs status --global' shows what is set");
    } else {
        for (const EventState& state : read_event_states(session))
            if (!state.filter.empty()) events.push_back(state.event);
    }
    const SessionPlan plan = plan_clear_filter(session, events);
    apply_or_print(ctx, plan.changes, dry_run);
    if (dry_run) return kOk;
    for (const std::string& note : plan.notes) ctx.err.line(note);
    if (plan.notes.empty()) ctx.err.line(cat("no filter is set in ", session.described()));
    return kOk;
}

}  // namespace

int cmd_filter(Context& ctx, Args args) {
    std::vector<std::string> words, expression_words;
    SessionChoice choice;
    bool all = false, clear = false, no_enable = false, dry_run = false, json = false;
    Options options("filter [-e EVENT…] EXPR | -e EVENT… --all | --clear [-e EVENT…] | [-e EVENT…]",
                    "Records, in a session of its own, the events for which EXPR holds:\n"
                    "    gpufs filter 'prev_state == 2'\n"
                    "    gpufs filter -e block:block_rq_issue 'bytes >= 65536 && comm ~ \"pg*\"'\n"
                    "Without -e, the event is found by the fields that EXPR names. Without EXPR,\n"
                    "the filters that are set are shown.");
    options.events(words)
        .flag("all", all, "every occurrence: enable the events without a condition")
        .flag("clear", clear, "remove filters and disable their events")
        .flag("no-enable", no_enable, "set the filter, leave the event disabled")
        .session(choice)
        .dry_run(dry_run)
        .output()
        .json(json);
    if (!options.parse(ctx, args, expression_words)) return kOk;
    if (clear) {
        if (!expression_words.empty()) throw UsageError("--clear takes no expression");
        return clear_filters(ctx, choice, words, dry_run);
    }
    if (all && (words.empty() || !expression_words.empty()))
        throw UsageError("--all takes events (-e) and no expression");
    if (expression_words.empty() && !all)
        return show_filters(ctx, open_session(choice), words, json);

    const Session session = open_session(choice);
    SessionPlan plan;
    if (all) {
        plan = plan_record_all(session, kernel_events(session.top()).match(words));
    } else {
        // Unquoted, the shell hands the expression over in pieces.
        const Expression expression = parse_expression({"filter", join(expression_words, " ")});
        const auto events = words.empty() ? find_event(session.top(), expression)
                                          : kernel_events(session.top()).match(words, expression);
        if (session.is_global() && !dry_run) try_filters(session.top(), events, expression);
        plan = plan_filter(session, events, expression, !no_enable);
    }
    apply_or_print(ctx, plan.changes, dry_run);
    if (!dry_run)
        for (const std::string& note : plan.notes) ctx.err.line(note);
    return kOk;
}

}  // namespace gpufs
