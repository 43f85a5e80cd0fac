#include "engine/session/session.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/path.h"
#include "base/scan.h"
#include "base/text.h"
#include "engine/session/instance_names.h"
#include "engine/session/scratch_instance.h"

namespace gpufs {

Session::Session(const Tracefs& top, std::string name, bool global)
    : top_(top),
      name_(std::move(name)),
      instance_(name_.empty() ? std::string(kDefaultInstance) : cat(kSessionPrefix, name_)),
      global_(global),
      here_(global ? top : top.instance(instance_)) {}

// Instances of commands that undo themselves are named gpufs.PID.STARTTIME, and probe groups must
// be C identifiers: a session's name is one, too, so that no two of these can meet.
bool Session::is_name(std::string_view name) {
    return !name.empty() && is_letter(name[0]) && std::ranges::all_of(name, is_word_char);
}

Session Session::named(const Tracefs& top, const std::string& name) {
    if (name == kDefaultInstance) return Session(top, {}, false);
    if (!name.empty() && !is_name(name))
        throw UsageError(cat("'", name, "' cannot name a session"),
                         "letters, digits and '_', with a letter first");
    return Session(top, name, false);
}

Session Session::global(const Tracefs& top) {
    return Session(top, {}, true);
}

Session Session::of(const ScratchInstance& scratch) {
    Session session(scratch.top(), {}, false);
    session.here_ = scratch.tracefs();
    session.instance_ = file_name(session.here_.root());
    session.is_scratch_ = true;
    return session;
}

Session Session::left_in(const Tracefs& top, const std::string& instance) {
    Session session(top, {}, false);
    session.here_ = top.instance(instance);
    session.instance_ = instance;
    session.is_scratch_ = true;
    return session;
}

std::vector<Session> Session::all(const Tracefs& top) {
    std::vector<Session> sessions;
    for (const std::string& instance : top.instances()) {
        if (instance == kDefaultInstance)
            sessions.push_back(Session(top, {}, false));
        else if (instance.starts_with(kSessionPrefix))
            sessions.push_back(Session(top, instance.substr(kSessionPrefix.size()), false));
    }
    return sessions;
}

std::string Session::name() const {
    if (global_) return {};
    return name_.empty() ? std::string(kDefaultInstance) : name_;
}

std::string Session::described() const {
    if (global_) return "the top-level buffer";
    if (is_scratch_) return "this run's own session";
    return cat("session '", name(), "'");
}

std::string Session::option() const {
    if (global_) return " --global";
    return name_.empty() ? std::string() : cat(" --session ", name_);
}

std::string Session::probe_group() const {
    return group_of_instance(instance_);
}

std::string removed_text(const EventState& state, const std::vector<Trigger>& triggers) {
    std::vector<std::string> gone;
    for (const Trigger& trigger : triggers) gone.push_back(cat(trigger.to_text(), " removed"));
    if (!state.filter.empty()) gone.emplace_back("filter removed");
    if (state.is_enabled) gone.emplace_back("disabled");
    return join(gone, ", ");
}

EventState read_event_state(const Tracefs& at, const std::string& event) {
    const std::string directory = event_directory(event);
    EventState state;
    state.event = event;
    const std::string filter = at.read(directory + "/filter");
    if (filter != "none\n") {
        const auto lines = lines_of(filter);
        if (!lines.empty()) state.filter = lines[0];
        state.filter_is_broken = lines.size() > 1;
    }
    state.triggers = parse_triggers(at.read(directory + "/trigger"));
    std::ranges::reverse(state.triggers);  // the kernel lists the newest first
    // "1*" is enabled with a trigger beside it, "0*" is not enabled but kept alive by one.
    state.is_enabled = at.read(directory + "/enable").starts_with('1');
    return state;
}

std::vector<EventState> read_event_states(const Session& session) {
    const Tracefs& at = session.tracefs();
    // Two of the three files of most events need no look: set_event lists what is enabled.
    std::set<std::string> enabled;
    for (const std::string& name : split(at.read("set_event"), '\n')) enabled.insert(name);
    std::vector<EventState> states;
    std::set<std::string> seen;  // two drivers may register the same name
    for (const std::string& event : session.top().events()) {
        if (!seen.insert(event).second) continue;
        const std::string directory = event_directory(event);
        const auto filter = at.read_if_readable(directory + "/filter");
        const auto trigger = at.read_if_readable(directory + "/trigger");
        const bool has_filter = filter && *filter != "none\n";
        const bool has_trigger = trigger && !parse_triggers(*trigger).empty();
        if (!has_filter && !has_trigger && !enabled.contains(event)) continue;
        EventState state = read_event_state(at, event);
        if (!state.is_default()) states.push_back(std::move(state));
    }
    return states;
}

}  // namespace gpufs
