#pragma once

#include <string>
#include <vector>

#include "engine/session/filters.h"
#include "engine/session/session.h"

namespace gpufs {

// Everything that a session set, taken away: triggers, events, probes of its group, its instance.
// The triggers go before their events are disabled, because a trigger fires all the same. Throws
// Error when the instance is in use, naming who has it open.
SessionPlan plan_reset(const Session& session);

// On the top level, what is set on these events: their triggers, enable switch and filter.
SessionPlan plan_reset_events(const Session& session, const std::vector<std::string>& events);

// "gpufs (pid 4711)" for each process that has a file below the directory open.
std::vector<std::string> users_of(const std::string& directory);

}  // namespace gpufs
