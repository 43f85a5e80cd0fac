#pragma once

#include <string>
#include <vector>

#include "engine/session/filters.h"
#include "engine/session/session.h"

namespace gpufs {

// Removes everything that a session set: triggers, events, probes of its group, its instance.
// Removes triggers before disabling their events, because a trigger fires even on a disabled event.
// Throws Error, naming the processes, when the instance is in use.
SessionPlan plan_reset(const Session& session);

// Removes triggers, filters and enabled events of the session, and nothing else. The kernel keeps a
// trigger that another one refers to by a variable: that one goes first.
SessionPlan plan_reset_states(const Session& session);

// Adds the changes that remove an event's triggers, disable it and remove its filter, in this
// order.
void plan_event_reset(SessionPlan& plan, const Tracefs& at, const EventState& state);

// On the top level: removes the triggers and filters of these events and disables them.
SessionPlan plan_reset_events(const Session& session, const std::vector<std::string>& events);

// "gpufs (pid 4711)" for each process that has a file below the directory open.
std::vector<std::string> users_of(const std::string& directory);

}  // namespace gpufs
