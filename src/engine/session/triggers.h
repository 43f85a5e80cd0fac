#pragma once

#include <string>
#include <vector>

#include "engine/session/filters.h"
#include "lang/recipe/trigger.h"

namespace gpufs {

// A trigger and the event it goes on. The condition is the trigger's own, already in kernel form.
struct TriggerOn {
    std::string event;
    Trigger trigger;
};

// Throws UsageError for an action that gpufs does not set, and where the event that it switches is
// missing or may not be there.
void check_trigger(const Trigger& trigger);

// A checked trigger with the event that it switches named in full. Throws UsageError where this
// kernel has no such event.
Trigger resolve_trigger(const Tracefs& top, Trigger trigger);

// Throws UnsupportedError when this kernel lacks the action, naming the config option and what to
// do instead; or when its kernels of old let an instance's trigger act on the top-level buffer,
// with
// --global as the hint.
void require_trigger_action(const Session& session, const std::string& action);

// The kernel fires the triggers of an event newest first. A stack must be taken and a copy made
// before the buffer stops, so what comes later in this order is set later.
int firing_order(const std::string& action);

// Sets them. A trigger fires while its event is disabled, so events are enabled first; an event
// that is neither enabled nor filtered is enabled under the trigger's own condition, so that what
// fired is in the buffer. A trigger of ours of the same kind is replaced; in the top-level buffer,
// where nobody's name is on a trigger, one that is there already is somebody else's: throws Error.
// On one event a stack is taken before a snapshot, and both before the buffer stops, in whatever
// order they are set.
SessionPlan plan_triggers(const Session& session, const std::vector<TriggerOn>& triggers,
                          bool enable);

// Takes triggers of one action (all that gpufs sets, when empty) off these events, or off all.
SessionPlan plan_clear_triggers(const Session& session, const std::vector<std::string>& events,
                                const std::string& action);

// Does a trigger set in an instance act on that instance? Kernels before 5.17 (and not all of
// them: the fix was carried back) let it act on the top-level buffer. Found out there by trying, in
// an instance of its own and with an effect the top level does not feel. Absent when it could not
// tell.
std::optional<bool> triggers_stay_in_instance(const Tracefs& top);

}  // namespace gpufs
