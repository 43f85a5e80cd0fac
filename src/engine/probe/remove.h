#pragma once

#include <string>
#include <vector>

#include "engine/session/filters.h"
#include "engine/session/session.h"

namespace gpufs {

// Removes probes of a session, by name or shell pattern, with or without the group: what is set on
// their events in the session, triggers of other events that switch them, then the probes. Throws
// UsageError, with near names, for a word that means none of them.
SessionPlan plan_remove_session_probes(const Session& session,
                                       const std::vector<std::string>& words);

}  // namespace gpufs
