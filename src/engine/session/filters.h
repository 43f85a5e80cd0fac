#pragma once

#include <string>
#include <vector>

#include "engine/session/changes.h"
#include "engine/session/session.h"
#include "lang/event/event_format.h"
#include "lang/expr/expr.h"

namespace gpufs {

// Changes and notes that tell the user about them, one line per event.
struct SessionPlan {
    Changes changes;
    std::vector<std::string> notes;
};

// Adds the first step of every plan: making the session's instance, if it does not exist.
void plan_session(SessionPlan& plan, const Session& session);

// Filters each event by the expression, which must have been checked against the event, and enables
// it if `enable` is set.
SessionPlan plan_filter(const Session& session, const std::vector<EventFormat>& events,
                        const Expression& expression, bool enable);

// Enables each event and removes its filter, if any.
SessionPlan plan_record_all(const Session& session, const std::vector<std::string>& events);

// Removes the filters of these events, or of all that have one, and disables the events.
SessionPlan plan_clear_filter(const Session& session, const std::vector<std::string>& events);

// Tests in a temporary instance whether the kernel accepts the filters. For the top-level buffer,
// where a refused filter would briefly replace another user's filter.
void try_filters(const Tracefs& top, const std::vector<EventFormat>& events,
                 const Expression& expression);

}  // namespace gpufs
