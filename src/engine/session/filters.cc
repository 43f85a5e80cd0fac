#include "engine/session/filters.h"

#include "base/error.h"
#include "base/text.h"
#include "engine/session/scratch_instance.h"

namespace gpufs {
namespace {

constexpr const char* kNoFilter = "0";

// The text to write to the event's filter file to restore its current state.
std::string restoring(const EventState& state) {
    return state.filter.empty() || state.filter_is_broken ? kNoFilter : state.filter;
}

}  // namespace

void plan_session(SessionPlan& plan, const Session& session) {
    if (!session.exists()) plan.changes.make_instance(session.tracefs());
}

SessionPlan plan_filter(const Session& session, const std::vector<EventFormat>& events,
                        const Expression& expression, bool enable) {
    SessionPlan plan;
    plan_session(plan, session);
    const Tracefs& at = session.tracefs();
    for (const EventFormat& event : events) {
        const std::string name = event.full_name();
        const std::string directory = event_directory(name);
        const EventState now = session.exists() ? read_event_state(at, name) : EventState{};
        const std::string filter = to_filter(expression, event);
        plan.changes.replace(at, directory + "/filter", filter, restoring(now));
        if (enable && !now.is_enabled) plan.changes.replace(at, directory + "/enable", "1", "0");
        plan.notes.push_back(cat(
            name, ": filtered by '", filter, "'", enable ? ", enabled" : "", " in ",
            session.described(),
            now.filter.empty() || now.filter == filter ? "" : cat("; it was '", now.filter, "'")));
    }
    return plan;
}

SessionPlan plan_record_all(const Session& session, const std::vector<std::string>& events) {
    SessionPlan plan;
    plan_session(plan, session);
    const Tracefs& at = session.tracefs();
    for (const std::string& name : events) {
        const std::string directory = event_directory(name);
        const EventState now = session.exists() ? read_event_state(at, name) : EventState{};
        if (!now.filter.empty())
            plan.changes.replace(at, directory + "/filter", kNoFilter, restoring(now));
        if (!now.is_enabled) plan.changes.replace(at, directory + "/enable", "1", "0");
        plan.notes.push_back(cat(name, ": every occurrence, enabled in ", session.described(),
                                 now.filter.empty() ? "" : cat("; it was '", now.filter, "'")));
    }
    return plan;
}

SessionPlan plan_clear_filter(const Session& session, const std::vector<std::string>& events) {
    SessionPlan plan;
    const Tracefs& at = session.tracefs();
    for (const std::string& name : events) {
        const std::string directory = event_directory(name);
        const EventState now = read_event_state(at, name);
        if (now.is_enabled) plan.changes.replace(at, directory + "/enable", "0", "1");
        if (!now.filter.empty())
            plan.changes.replace(at, directory + "/filter", kNoFilter, restoring(now));
        std::string note = cat(name, ": filter removed, disabled in ", session.described());
        if (!now.triggers.empty())
            note += cat("; its triggers stay ('gpufs trigger --clear -e ", name, session.option(),
                        "' removes them)");
        plan.notes.push_back(note);
    }
    return plan;
}

void try_filters(const Tracefs& top, const std::vector<EventFormat>& events,
                 const Expression& expression) {
    const ScratchInstance scratch(top);
    for (const EventFormat& event : events)
        scratch.tracefs().write(event_directory(event.full_name()) + "/filter",
                                to_filter(expression, event) + '\n', Write::replace);
}

}  // namespace gpufs
