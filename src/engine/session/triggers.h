#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/session/filters.h"
#include "lang/trigger/trigger.h"

namespace gpufs {

// A trigger and its event. The condition is the trigger's own, already in tracefs syntax.
struct TriggerOn {
    std::string event;
    Trigger trigger;
};

// Whether gpufs removes it without being asked for its action. In the top-level buffer others set
// hist triggers, too, which take long to collect what they have.
bool is_sure_to_be_ours(const Session& session, const Trigger& trigger);

// Throws UsageError for an action that gpufs does not support, and if an event to switch is missing
// or not allowed. `actions`: those that the caller takes, for the hint.
void check_trigger(const Trigger& trigger,
                   std::span<const std::string_view> actions = kTriggerActions);

// The trigger with the full name of the event that it switches. Throws UsageError if this kernel
// has no such event.
Trigger resolve_trigger(const Tracefs& top, Trigger trigger);

// Throws UnsupportedError if this kernel lacks the action, naming the config option and an
// alternative; or if it is an old kernel on which an instance's trigger acts on the top-level
// buffer, with --global as the hint.
void require_trigger_action(const Session& session, const std::string& action);

// The order in which triggers of an event must fire: a stack and a snapshot must be taken before
// the buffer stops. The kernel fires them newest first, so a higher value is set later.
int firing_order(const std::string& action);

// Plans to set the triggers. A trigger fires even if its event is disabled, so events are enabled
// first; an event that is neither enabled nor filtered is enabled under the trigger's own
// condition, so that what fired is in the buffer. Not for a hist trigger. Replaces our trigger of
// the same kind; in the top-level buffer, where triggers have no owner, throws Error instead if one
// exists. On one event a stack is taken before a snapshot, and both before the buffer stops, in
// whatever order they are set.
SessionPlan plan_triggers(const Session& session, const std::vector<TriggerOn>& triggers,
                          bool enable);

// Plans to remove triggers of one action (empty: of all actions that gpufs sets) from these events
// (empty: from all).
SessionPlan plan_clear_triggers(const Session& session, const std::vector<std::string>& events,
                                const std::string& action);

// Whether a trigger set in an instance acts on that instance. Kernels before 5.17 (except those
// with a backported fix) let it act on the top-level buffer. Tested there with a temporary instance
// and without effect on the top level. Absent if the test was inconclusive.
std::optional<bool> triggers_stay_in_instance(const Tracefs& top);

}  // namespace gpufs
