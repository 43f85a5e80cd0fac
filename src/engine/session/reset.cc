#include "engine/session/reset.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/scan.h"
#include "base/text.h"
#include "engine/session/session_probes.h"
#include "engine/session/triggers.h"
#include "kernel/host/proc_task.h"

namespace gpufs {

namespace {

// Of a hist trigger: whether it reads a variable that the other one sets ("ts0=…", "$ts0").
bool refers_to(const Trigger& reader, const Trigger& setter) {
    if (!reader.is_hist() || !setter.is_hist()) return false;
    std::string parts = setter.argument;
    std::ranges::replace(parts, ',', ':');
    for (const std::string& part : split(parts, ':')) {
        const std::string use = cat('$', part.substr(0, part.find('=')));
        if (use.size() == 1 || part.find('=') == part.npos) continue;
        for (auto at = reader.argument.find(use); at != std::string::npos;
             at = reader.argument.find(use, at + 1)) {
            const std::size_t end = at + use.size();
            if (end == reader.argument.size() || !is_word_char(reader.argument[end])) return true;
        }
    }
    return false;
}

struct TriggerOf {
    const std::string* event;
    const Trigger* trigger;
};

// So that none goes while another one refers to it.
std::vector<TriggerOf> in_order_of_removal(const std::vector<EventState>& states) {
    std::vector<TriggerOf> left, ordered;
    for (const EventState& state : states)
        for (const Trigger& trigger : state.triggers)
            if (trigger.is_known()) left.push_back({&state.event, &trigger});
    while (!left.empty()) {
        const auto is_free = [&](const TriggerOf& one) {
            return std::ranges::none_of(left, [&](const TriggerOf& other) {
                return other.trigger != one.trigger && refers_to(*other.trigger, *one.trigger);
            });
        };
        auto next = std::ranges::find_if(left, is_free);
        if (next == left.end()) next = left.begin();
        ordered.push_back(*next);
        left.erase(next);
    }
    return ordered;
}

void plan_states_reset(SessionPlan& plan, const Tracefs& at,
                       const std::vector<EventState>& states) {
    for (const TriggerOf& one : in_order_of_removal(states))
        plan.changes.append(at, event_directory(*one.event) + "/trigger", one.trigger->removal(),
                            one.trigger->to_text());
    for (const EventState& state : states) {
        const std::string directory = event_directory(state.event);
        if (state.is_enabled) plan.changes.replace(at, directory + "/enable", "0", "1");
        if (!state.filter.empty())
            plan.changes.replace(at, directory + "/filter", kNoFilter, state.filter_to_restore());
    }
}

}  // namespace

void plan_event_reset(SessionPlan& plan, const Tracefs& at, const EventState& state) {
    plan_states_reset(plan, at, {state});
}

std::vector<std::string> users_of(const std::string& directory) {
    std::set<std::string> users;
    const std::string prefix = directory + '/';
    for (const int pid : proc::processes())
        for (const int fd : proc::numbers_in(cat("/proc/", pid, "/fd"))) {
            if (!proc::file_of(pid, fd).starts_with(prefix)) continue;
            const std::string comm = proc::comm(pid);
            users.insert(cat(comm.empty() ? "?" : comm, " (pid ", pid, ")"));
        }
    return {users.begin(), users.end()};
}

SessionPlan plan_reset_states(const Session& session) {
    SessionPlan plan;
    plan_states_reset(plan, session.tracefs(), read_event_states(session));
    return plan;
}

SessionPlan plan_reset(const Session& session) {
    const Tracefs& at = session.tracefs();
    if (const auto users = users_of(at.root()); !users.empty())
        throw Error(cat(session.described(), " is in use by ", join(users, ", ")),
                    "end it first, then reset again");
    SessionPlan plan = plan_reset_states(session);
    plan_remove_probes(plan.changes, session.top(),
                       probes_of(session.top(), session.probe_group()));
    plan.changes.remove_instance(at);
    plan.notes.push_back(cat(session.described(), " is gone"));
    return plan;
}

SessionPlan plan_reset_events(const Session& session, const std::vector<std::string>& events) {
    SessionPlan plan;
    for (const std::string& event : events) {
        EventState state = read_event_state(session.tracefs(), event);
        std::erase_if(state.triggers, [&](const Trigger& trigger) {
            return !is_sure_to_be_ours(session, trigger);
        });
        plan_event_reset(plan, session.tracefs(), state);
        const std::string gone = removed_text(state, state.triggers);
        plan.notes.push_back(cat(event, ": ", gone.empty() ? "nothing of gpufs' kind is set" : gone,
                                 " in ", session.described()));
    }
    return plan;
}

}  // namespace gpufs
