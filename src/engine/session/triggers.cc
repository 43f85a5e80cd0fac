#include "engine/session/triggers.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"
#include "engine/session/scratch_instance.h"
#include "engine/trace/kernel_events.h"
#include "kernel/host/kernel_version.h"

namespace gpufs {
namespace {

// What to say about an action this kernel was built without.
struct Need {
    std::string_view action, config, instead;
};
constexpr Need kNeeds[] = {
    {"stacktrace", "CONFIG_STACKTRACE",
     "'gpufs options stacktrace=on' records a stack with every event"},
    {"snapshot", "CONFIG_TRACER_SNAPSHOT",
     "'gpufs trigger traceoff' stops the buffer and so keeps what led there"},
    {"hist", "CONFIG_HIST_TRIGGERS", "'gpufs count' and 'gpufs hist' count by BPF programs"},
};

// The kernel lists what it has in the `trigger` file of an event that has none set.
std::vector<std::string> actions_of(const Session& session) {
    for (const std::string& event : session.top().events())
        if (const auto file = session.top().read_if_readable(event_directory(event) + "/trigger"))
            if (auto actions = available_triggers(*file)) return *actions;
    return {};
}

const Trigger* find_kind(const std::vector<Trigger>& triggers, const std::string& kind) {
    const auto it = std::ranges::find(triggers, kind, &Trigger::kind);
    return it == triggers.end() ? nullptr : &*it;
}

// Appends the trigger; those of the event that must fire before it are set anew behind it.
void append_in_order(Changes& changes, const Tracefs& at, const TriggerOn& on,
                     const std::vector<Trigger>& others, std::string& note) {
    const std::string file = event_directory(on.event) + "/trigger";
    std::vector<const Trigger*> moved;
    for (const Trigger& other : others)
        if (firing_order(other.action) > firing_order(on.trigger.action) &&
            other.kind() != on.trigger.kind())
            moved.push_back(&other);
    for (const Trigger* other : moved) changes.append(at, file, other->removal(), other->to_text());
    changes.append(at, file, on.trigger.to_text(), on.trigger.removal());
    for (const Trigger* other : moved) {
        changes.append(at, file, other->to_text(), other->removal());
        note += cat("; ", other->action, " set again behind it, so that it still fires first");
    }
}

std::string clear_command(const Session& session, const TriggerOn& on) {
    return cat("gpufs trigger ", on.trigger.action, " --clear -e ", on.event, session.option());
}

}  // namespace

bool is_sure_to_be_ours(const Session& session, const Trigger& trigger) {
    return trigger.is_known() && !(trigger.is_hist() && session.is_global());
}

void check_trigger(const Trigger& trigger, std::span<const std::string_view> actions) {
    if (!trigger.is_known()) {
        const std::vector<std::string> names(actions.begin(), actions.end());
        std::string hint = did_you_mean(trigger.action, names);
        if (hint.empty()) hint = cat("actions: ", join(names, " "));
        throw UsageError(cat("unknown trigger action '", trigger.action, "'"), hint);
    }
    if (trigger.is_hist()) return;
    if (!trigger.action.ends_with("_event")) {
        if (trigger.argument.empty()) return;
        throw UsageError(cat("'", trigger.action, "' takes nothing behind a colon"));
    }
    if (trigger.argument.empty())
        throw UsageError(cat(trigger.action, " needs the event to switch"),
                         cat("gpufs trigger ", trigger.action, " SYSTEM:EVENT -e …"));
}

Trigger resolve_trigger(const Tracefs& top, Trigger trigger) {
    if (!trigger.action.ends_with("_event")) return trigger;
    const auto targets = kernel_events(top).match({trigger.argument});
    if (targets.size() != 1)
        throw UsageError(cat("'", trigger.argument, "' means ", targets.size(), " events"),
                         "name one as SYSTEM:EVENT");
    trigger.argument = targets[0];
    return trigger;
}

int firing_order(const std::string& action) {
    if (action == "stacktrace") return 2;
    if (action == "snapshot") return 1;
    return 0;
}

std::optional<bool> triggers_stay_in_instance(const Tracefs& top) {
    if (running_kernel() >= KernelVersion{5, 17, 0}) return true;
    // A `traceon` is tried, while the top level is on already: there it changes nothing.
    if (top.read_if_readable("tracing_on").value_or("") != "1\n") return std::nullopt;
    const ScratchInstance scratch(top, "trial");
    const Tracefs& at = scratch.tracefs();
    at.write("tracing_on", "0\n", Write::replace);
    at.write("events/sched/sched_switch/trigger", "traceon\n", Write::append);
    bool stays = false;
    for (int i = 0; !stays && i < 20; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // a switch away and back
        stays = at.read("tracing_on") == "1\n";
    }
    at.write("events/sched/sched_switch/trigger", "!traceon\n", Write::append);
    return stays;
}

void require_trigger_action(const Session& session, const std::string& action) {
    const auto available = actions_of(session);
    if (!available.empty() && std::ranges::count(available, action) == 0) {
        const auto need = std::ranges::find(kNeeds, action, &Need::action);
        const bool known = need != std::end(kNeeds);
        throw UnsupportedError(
            cat("this kernel has no '", action, "' trigger; it has: ", join(available, " ")),
            known ? cat("it was built without ", need->config, "; ", need->instead) : "");
    }
    const bool acts_on_buffer = !action.ends_with("_event") && action != "hist";
    if (session.is_global() || !acts_on_buffer) return;
    const std::optional<bool> stays = triggers_stay_in_instance(session.top());
    if (!stays)
        throw UnsupportedError(
            cat("on a kernel before 5.17 a '", action,
                "' trigger set in a session may act on the top-level buffer, and that is stopped: "
                "it cannot be tried"),
            "'gpufs start --global' lets it record; or set the trigger with --global");
    if (!*stays)
        throw UnsupportedError(
            cat("on this kernel a '", action,
                "' trigger set in a session acts on the top-level buffer"),
            "set filter and trigger with --global, and look with 'gpufs show --global'");
}

SessionPlan plan_triggers(const Session& session, const std::vector<TriggerOn>& triggers,
                          bool enable) {
    SessionPlan plan;
    plan_session(plan, session);
    const Tracefs& at = session.tracefs();
    for (const TriggerOn& on : triggers) {
        const std::string directory = event_directory(on.event);
        const EventState now = session.exists() ? read_event_state(at, on.event) : EventState{};
        std::string note = cat(on.event, ": ", on.trigger.to_text(), " in ", session.described());

        const Trigger* same_kind = find_kind(now.triggers, on.trigger.kind());
        if (same_kind && session.is_global())
            throw Error(cat(on.event, " has a trigger '", same_kind->to_text(),
                            "' in the top-level buffer, and gpufs cannot tell whose"),
                        cat("if it is yours: ", clear_command(session, on)));
        // What is counted need not be recorded.
        if (enable && !on.trigger.is_hist() && !now.is_enabled) {
            if (now.filter.empty() && !on.trigger.condition.empty())
                plan.changes.replace(at, directory + "/filter", on.trigger.condition, "0");
            plan.changes.replace(at, directory + "/enable", "1", "0");
            note += now.filter.empty() && !on.trigger.condition.empty()
                        ? ", enabled under the same condition"
                        : ", enabled";
        }
        if (same_kind) {
            plan.changes.append(at, directory + "/trigger", same_kind->removal(),
                                same_kind->to_text());
            note += cat("; it replaces '", same_kind->to_text(), "'");
        }
        // In the top-level buffer the others are not ours to move.
        const auto others = session.is_global() ? std::vector<Trigger>() : now.triggers;
        append_in_order(plan.changes, at, on, others, note);
        plan.notes.push_back(note);
    }
    return plan;
}

SessionPlan plan_clear_triggers(const Session& session, const std::vector<std::string>& events,
                                const std::string& action) {
    SessionPlan plan;
    for (const std::string& event : events) {
        for (const Trigger& trigger : read_event_state(session.tracefs(), event).triggers) {
            if (!(action.empty() ? is_sure_to_be_ours(session, trigger)
                                 : trigger.action == action && trigger.is_known()))
                continue;
            plan.changes.append(session.tracefs(), event_directory(event) + "/trigger",
                                trigger.removal(), trigger.to_text());
            plan.notes.push_back(
                cat(event, ": ", trigger.to_text(), " removed from ", session.described()));
        }
    }
    return plan;
}

}  // namespace gpufs
