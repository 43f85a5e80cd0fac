#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/tracefs/tracefs.h"
#include "lang/trigger/trigger.h"

namespace gpufs {

class ScratchInstance;

// The tracefs instance that a command works on. A session is an instance named `gpufs` or
// `gpufs-NAME`. Tracefs is the only state; sessions exist until `gpufs reset`.
class Session {
public:
    // Whether the name is valid for a session: letters, digits and '_', beginning with a letter.
    static bool is_name(std::string_view name);
    // An empty name selects the default session. Throws UsageError if !is_name(name).
    static Session named(const Tracefs& top, const std::string& name);
    // The top-level buffer, shared with other tracers: gpufs cannot tell which settings there are
    // its own.
    static Session global(const Tracefs& top);
    // The instance of a command that undoes itself; `scratch` must outlive the session.
    static Session of(const ScratchInstance& scratch);
    // An instance that a command which is gone made for itself.
    static Session left_in(const Tracefs& top, const std::string& instance);
    // All sessions on this machine.
    static std::vector<Session> all(const Tracefs& top);

    bool is_global() const noexcept { return global_; }
    bool exists() const { return global_ || top_.has("instances/" + instance_); }
    // The instance's directory, or the top-level one.
    const Tracefs& tracefs() const noexcept { return here_; }
    const Tracefs& top() const noexcept { return top_; }
    // The name given by the user, "gpufs" of the default session; empty for the top-level buffer.
    std::string name() const;
    // "session 'gpufs'", "the top-level buffer": for messages.
    std::string described() const;
    // The option that selects it, with a leading space: "", " --session NAME", " --global". Empty
    // for a command's own instance, which no other command works on.
    std::string option() const;
    // The group of the session's dynamic probes.
    std::string probe_group() const;

private:
    Session(const Tracefs& top, std::string name, bool global);

    Tracefs top_;
    std::string name_;      // as given by the user; empty for the default
    std::string instance_;  // directory below instances/
    bool global_;
    Tracefs here_;
    bool is_scratch_ = false;  // a command's own instance
};

// The settings of one event.
// What clears an event's filter.
inline constexpr const char* kNoFilter = "0";

struct EventState {
    std::string event;  // "sched:sched_switch"
    bool is_enabled = false;
    std::string filter;             // empty if there is none
    bool filter_is_broken = false;  // a refused filter stays in the file until overwritten
    std::vector<Trigger> triggers;  // in the order they were set

    bool is_default() const { return !is_enabled && filter.empty() && triggers.empty(); }
    // The text that sets the filter again. The kernel refuses that of a broken one.
    std::string filter_to_restore() const {
        return filter.empty() || filter_is_broken ? kNoFilter : filter;
    }
};

// What is said when these triggers of it, its filter and its being enabled are taken away:
// "traceoff removed, filter removed, disabled"; empty where there is nothing.
std::string removed_text(const EventState& state, const std::vector<Trigger>& triggers);

// Throws SysError if there is no such event.
EventState read_event_state(const Tracefs& at, const std::string& event);

// All events with settings, in the kernel's order. Reads two files per event.
std::vector<EventState> read_event_states(const Session& session);

}  // namespace gpufs
