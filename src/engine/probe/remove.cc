#include "engine/probe/remove.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/cat.h"
#include "base/error.h"
#include "base/glob.h"
#include "base/suggest.h"
#include "engine/session/reset.h"
#include "engine/session/session_probes.h"

namespace gpufs {

SessionPlan plan_remove_session_probes(const Session& session,
                                       const std::vector<std::string>& words) {
    const std::vector<ProbeLine> known = probes_of(session.top(), session.probe_group());
    std::set<std::string> meant;
    for (const std::string& word : words) {
        bool is_known = false;
        for (const ProbeLine& probe : known)
            if (glob_match(word, probe.name) || glob_match(word, probe.event())) {
                meant.insert(probe.event());
                is_known = true;
            }
        if (is_known) continue;
        std::vector<std::string> names;
        for (const ProbeLine& probe : known) names.push_back(probe.name);
        const std::string near = did_you_mean(word, names);
        throw UsageError(
            cat(session.described(), " has no probe '", word, "'"),
            near.empty() ? cat("'gpufs probe list", session.option(), "' shows them") : near);
    }
    SessionPlan plan;
    const Tracefs& at = session.tracefs();
    for (const EventState& state : read_event_states(session)) {
        if (meant.contains(state.event)) {
            plan_event_reset(plan, at, state);
            continue;
        }
        for (const Trigger& trigger : state.triggers)
            if (meant.contains(trigger.argument))
                plan.changes.append(at, event_directory(state.event) + "/trigger",
                                    trigger.removal(), trigger.to_text());
    }
    std::vector<ProbeLine> gone;
    std::ranges::copy_if(known, std::back_inserter(gone),
                         [&](const ProbeLine& probe) { return meant.contains(probe.event()); });
    plan_remove_probes(plan.changes, session.top(), gone);
    for (const std::string& event : meant)
        plan.notes.push_back(cat(event, " is removed from ", session.described()));
    return plan;
}

}  // namespace gpufs
