#pragma once

#include <string>
#include <vector>

#include "engine/session/changes.h"
#include "engine/session/session.h"
#include "lang/event/event_format.h"
#include "lang/expr/expr.h"

namespace gpufs {

// A plan and, for the person, what it will have done: one line an event.
struct SessionPlan {
    Changes changes;
    std::vector<std::string> notes;
};

// The first step of every plan that sets something: the session's instance, if it is not there yet.
void plan_session(SessionPlan& plan, const Session& session);

// Filters each event by the expression, which must have been checked against it, and enables it.
SessionPlan plan_filter(const Session& session, const std::vector<EventFormat>& events,
                        const Expression& expression, bool enable);

// Enables each event without a filter; one that was there is removed.
SessionPlan plan_record_all(const Session& session, const std::vector<std::string>& events);

// Takes filters off these events, or off all that have one, and disables them.
SessionPlan plan_clear_filter(const Session& session, const std::vector<std::string>& events);

// Asks the kernel, in an instance of its own, whether it takes the filters. For the top-level
// buffer, where a refused filter would for a moment replace somebody else's.
void try_filters(const Tracefs& top, const std::vector<EventFormat>& events,
                 const Expression& expression);

}  // namespace gpufs
