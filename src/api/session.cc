#include "gpufs/session.h"

#include "base/cat.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/session/filters.h"
#include "engine/session/reset.h"
#include "engine/session/session.h"
#include "engine/session/stale.h"
#include "engine/session/triggers.h"
#include "engine/trace/kernel_events.h"

namespace gpufs::api {

struct Session::State {
    explicit State(const std::string& name)
        : top(find_tracefs()),
          session(gpufs::Session::named(top, name)),
          events(kernel_events(top)) {}

    static std::vector<std::string> apply(const SessionPlan& plan) {
        plan.changes.apply();
        return plan.notes;
    }
    // The condition as the kernel reads it: the one given, else the event's own filter.
    std::string condition_on(const std::string& event, const std::string& condition) {
        if (!condition.empty())
            return to_filter(parse_expression({"condition", condition}), events.require(event));
        return session.exists() ? read_event_state(session.tracefs(), event).filter : "";
    }

    Tracefs top;
    gpufs::Session session;
    Events events;
};

Session::Session(const std::string& name) : state_(std::make_unique<State>(name)) {
    remove_stale(state_->top);
}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

std::vector<std::string> Session::filter(const std::string& expression,
                                         const std::vector<std::string>& events) {
    const Expression parsed = parse_expression({"filter", expression});
    const std::vector<EventFormat> meant = events.empty() ? state_->events.with_fields_of(parsed)
                                                          : state_->events.match(events, parsed);
    if (events.empty() && meant.size() != 1)
        throw UsageError(cat(meant.size(), " events have ", join(fields_of(parsed), ", ")),
                         "name the events");
    return State::apply(plan_filter(state_->session, meant, parsed, true));
}

std::vector<std::string> Session::record(const std::vector<std::string>& events) {
    return State::apply(plan_record_all(state_->session, state_->events.match(events)));
}

std::vector<std::string> Session::trigger(const std::string& action,
                                          const std::vector<std::string>& events,
                                          const std::string& condition) {
    const Trigger trigger = resolve_trigger(state_->top, parse_trigger(action));
    std::vector<TriggerOn> triggers;
    for (const std::string& event : state_->events.match(events)) {
        triggers.push_back({event, trigger});
        triggers.back().trigger.condition = state_->condition_on(event, condition);
    }
    require_trigger_action(state_->session, trigger.action);
    return State::apply(plan_triggers(state_->session, triggers, true));
}

bool Session::exists() const {
    return state_->session.exists();
}

std::string Session::directory() const {
    return state_->session.tracefs().root();
}

void Session::turn(bool on) {
    state_->session.tracefs().write("tracing_on", on ? "1" : "0", Write::replace);
}

std::string Session::text() const {
    return state_->session.tracefs().read("trace");
}

std::vector<std::string> Session::reset() {
    if (!exists()) return {};
    return State::apply(plan_reset(state_->session));
}

}  // namespace gpufs::api
