#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/session_choice.h"
#include "engine/session/triggers.h"
#include "engine/trace/kernel_events.h"
#include "lang/trigger/hist_spec.h"
#include "view/json.h"

namespace gpufs {
namespace {

// "stacktrace", "enable_event sched:sched_wakeup", "enable_event:sched:sched_wakeup".
Trigger parse_action(const std::vector<std::string>& words) {
    Trigger trigger = parse_trigger(words[0]);
    if (trigger.count)
        throw UsageError(cat("'", words[0], "' carries a count"),
                         cat("gpufs trigger ", trigger.action, " --count ", *trigger.count));
    if (words.size() == 2 && trigger.argument.empty() && trigger.action.ends_with("_event"))
        trigger.argument = words[1];
    else
        check_words(words, 1, "a condition goes with --if, events with -e");
    check_trigger(trigger);
    return trigger;
}

// "hist key=prev_comm", "hist:keys=prev_comm". On each of the events it must make sense.
struct HistRequest {
    SourceText source;
    HistSpec spec;
};
std::optional<HistRequest> parse_hist(const std::vector<std::string>& words) {
    const std::string& first = words[0];
    if (!first.starts_with("hist") || (first.size() > 4 && first[4] != ':' && first[4] != ' '))
        return std::nullopt;
    HistRequest request{{"hist", join(words, " ")}, {}};
    request.spec = parse_hist_spec(request.source);
    return request;
}

// The events filtered in the session, each under its own filter.
std::vector<TriggerOn> on_filtered(const Session& session, const Trigger& trigger) {
    std::vector<TriggerOn> triggers;
    if (session.exists())
        for (const EventState& state : read_event_states(session)) {
            if (state.filter.empty() || state.filter_is_broken) continue;
            triggers.push_back({state.event, trigger});
            triggers.back().trigger.condition = state.filter;
        }
    if (triggers.empty())
        throw UsageError(cat("no event is filtered in ", session.described(),
                             ", so there is none to put a trigger on"),
                         "filter first (gpufs filter EXPR), or name events with -e");
    return triggers;
}

// With --if alone: those of the filtered events that have its fields, else the one event that has.
std::vector<std::string> events_with(const Session& session, const Expression& condition) {
    const auto fields = fields_of(condition);
    Events known = kernel_events(session.top());
    std::vector<std::string> names;
    if (session.exists())
        for (const EventState& state : read_event_states(session)) {
            if (state.filter.empty()) continue;
            const EventFormat& event = known.require(state.event);
            if (std::ranges::all_of(fields, [&](const auto& f) { return event.find(f); }))
                names.push_back(state.event);
        }
    if (!names.empty()) return names;
    if (fields.empty())
        throw UsageError("the condition names no field that tells the event",
                         "say which event: -e EVENT");
    return {known.only_with_fields_of(condition).full_name()};
}

std::vector<TriggerOn> on_events(const Session& session, const Trigger& trigger,
                                 const std::vector<std::string>& words,
                                 const std::optional<Expression>& condition) {
    if (words.empty() && !condition) return on_filtered(session, trigger);
    Events known = kernel_events(session.top());
    std::vector<TriggerOn> triggers;
    for (const std::string& event :
         words.empty() ? events_with(session, *condition) : known.match(words)) {
        triggers.push_back({event, trigger});
        if (!condition) continue;
        const EventFormat& format = known.require(event);
        check_expression(*condition, format);
        triggers.back().trigger.condition = to_filter(*condition, format);
    }
    return triggers;
}

Trigger hist_trigger(const HistSpec& spec) {
    Trigger trigger;
    trigger.action = "hist";
    trigger.argument = spec.argument();
    return trigger;
}

void check_hist(const Session& session, const HistRequest& request,
                const std::vector<TriggerOn>& triggers) {
    Events known = kernel_events(session.top());
    for (const TriggerOn& on : triggers)
        check_hist_spec(request.spec, request.source, known.require(on.event));
}

bool is_meant(const std::vector<std::string>& words, const std::string& event) {
    return words.empty() || std::ranges::any_of(words, [&](const std::string& word) {
               return means_event(word, event);
           });
}

int show_triggers(Context& ctx, const Session& session, const std::vector<std::string>& words,
                  bool json) {
    if (!session.exists()) {
        tell_no_session(ctx, session, "no trigger is set");
        return kOk;
    }
    for (const EventState& state : read_event_states(session)) {
        if (!is_meant(words, state.event)) continue;
        for (const Trigger& trigger : state.triggers) {
            if (!json) {
                ctx.out.line(cat(state.event, ": ", trigger.to_text()));
                continue;
            }
            JsonObject line;
            line.text("event", state.event).text("action", trigger.action);
            line.text_or_null("argument", trigger.argument)
                .raw("count", trigger.count ? cat(*trigger.count) : "null")
                .text_or_null("condition", trigger.condition);
            ctx.out.line(line.done());
        }
    }
    return kOk;
}

int clear_triggers(Context& ctx, const SessionChoice& choice, const std::vector<std::string>& words,
                   const std::string& action, bool dry_run) {
    const Session session = require_session(choice);
    if (session.is_global() && words.empty())
        throw UsageError(
            "--clear --global needs -e: gpufs cannot tell which triggers there are ours",
            "'gpufs status --global' shows what is set");
    std::vector<std::string> events;
    if (!words.empty())
        events = kernel_events(session.top()).match(words);
    else
        for (const EventState& state : read_event_states(session)) events.push_back(state.event);
    const SessionPlan plan = plan_clear_triggers(session, events, action);
    apply_or_print(ctx, plan.changes, dry_run);
    if (dry_run) return kOk;
    for (const std::string& note : plan.notes) ctx.err.line(note);
    if (plan.notes.empty()) ctx.err.line(cat("no such trigger is set in ", session.described()));
    return kOk;
}

}  // namespace

int cmd_trigger(Context& ctx, Args args) {
    std::vector<std::string> words, action_words;
    SessionChoice choice;
    std::optional<Expression> condition;
    std::optional<unsigned long> count;
    bool clear = false, no_enable = false, dry_run = false, json = false;
    Options options(
        "trigger ACTION [-e EVENT…] [--if EXPR] [--count N] | [ACTION] --clear | [-e EVENT…]",
        "Lets the kernel act the moment an event occurs. ACTION is one of\n"
        "    stacktrace            record the kernel stack\n"
        "    traceoff, traceon     stop or start the buffer\n"
        "    snapshot              keep a copy of the buffer ('gpufs show --snapshot')\n"
        "    enable_event EVENT    switch another event on (disable_event: off)\n"
        "    hist key=FIELD,…      count by keys, in the kernel ('gpufs show --hist')\n"
        "Without -e and --if it goes on the events filtered in the session, under the same\n"
        "condition. Without ACTION, the triggers that are set are shown.");
    options.events(words)
        .condition(condition)
        .count("count", count, "act N times, then no more")
        .flag("clear", clear, "remove triggers: of ACTION, or all that gpufs sets")
        .flag("no-enable", no_enable, "leave the event disabled; the trigger works all the same")
        .session(choice)
        .output()
        .dry_run(dry_run)
        .json(json);
    if (!options.parse(ctx, args, action_words)) return kOk;
    if (clear) {
        if (action_words.size() > 1 || condition || count)
            throw UsageError("--clear takes an action and events, nothing else");
        return clear_triggers(ctx, choice, words,
                              action_words.empty() ? std::string() : action_words[0], dry_run);
    }
    if (action_words.empty()) {
        if (condition || count) throw UsageError("no action given", "gpufs trigger --help");
        return show_triggers(ctx, open_session(choice), words, json);
    }
    const std::optional<HistRequest> hist = parse_hist(action_words);
    if (hist && count) throw UsageError("a hist trigger counts them all: no --count");
    Trigger trigger = hist ? hist_trigger(hist->spec) : parse_action(action_words);
    trigger.count = count;
    const Session session = open_session(choice);
    trigger = resolve_trigger(session.top(), std::move(trigger));
    const auto triggers = on_events(session, trigger, words, condition);
    if (hist) check_hist(session, *hist, triggers);
    require_trigger_action(session, trigger.action);
    const SessionPlan plan = plan_triggers(session, triggers, !no_enable);
    apply_or_print(ctx, plan.changes, dry_run);
    if (!dry_run)
        for (const std::string& note : plan.notes) ctx.err.line(note);
    return kOk;
}

}  // namespace gpufs
