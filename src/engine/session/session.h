#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/tracefs/tracefs.h"
#include "lang/recipe/trigger.h"

namespace gpufs {

class ScratchInstance;

// Which tracefs instance a command works on. A session is an instance whose name says that it is
// ours: `gpufs`, or `gpufs-NAME`. Tracefs is the only state; sessions live until `gpufs reset`.
class Session {
public:
    // Whether a session can have this name: letters, digits and '_', with a letter first.
    static bool is_name(std::string_view name);
    // An empty name is the default session. Throws UsageError for what is_name() refuses.
    static Session named(const Tracefs& top, const std::string& name);
    // The top-level buffer, shared with everybody: gpufs cannot tell there what is its own.
    static Session global(const Tracefs& top);
    // The instance of a command that undoes itself, as long as that lives.
    static Session of(const ScratchInstance& scratch);
    // Every session there is on this machine.
    static std::vector<Session> all(const Tracefs& top);

    bool is_global() const noexcept { return global_; }
    bool exists() const { return global_ || top_.has("instances/" + instance_); }
    // The instance's directory, or the top one.
    const Tracefs& tracefs() const noexcept { return here_; }
    const Tracefs& top() const noexcept { return top_; }
    // "session 'gpufs'", "the top-level buffer": for sentences.
    std::string described() const;
    // What selects it on a command line, with a leading space: "", " --session NAME", " --global".
    // Empty for a command's own instance, which nobody else works on.
    std::string option() const;
    // The group of the dynamic probes that belong to it.
    std::string probe_group() const;

private:
    Session(const Tracefs& top, std::string name, bool global);

    Tracefs top_;
    std::string name_;      // as the user gave it; empty for the default
    std::string instance_;  // directory below instances/
    bool global_;
    Tracefs here_;
    std::string scratch_group_;  // of a command's own instance; empty for others
};

// What is set on one event.
struct EventState {
    std::string event;  // "sched:sched_switch"
    bool is_enabled = false;
    std::string filter;             // empty when there is none
    bool filter_is_broken = false;  // a refused filter stays in the file until overwritten
    std::vector<Trigger> triggers;  // in the order they were set

    bool is_default() const { return !is_enabled && filter.empty() && triggers.empty(); }
};

// Throws SysError when there is no such event.
EventState read_event_state(const Tracefs& at, const std::string& event);

// All events on which something is set, in the kernel's order. Reads two files an event.
std::vector<EventState> read_event_states(const Session& session);

}  // namespace gpufs
