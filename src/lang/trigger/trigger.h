#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// An event trigger in tracefs syntax: an action of the kernel when the event occurs.
//
//   stacktrace:5 if prev_state == 2
//   enable_event:sched:sched_wakeup
struct Trigger {
    std::string action;  // "stacktrace", "traceoff", "enable_event", "hist", ...
    std::string
        argument;  // the event of enable_event and disable_event, as SYSTEM:EVENT; of hist
                   // what it counts (lang/trigger/hist_spec.h): all between action and condition
    std::optional<unsigned long> count;  // how many times it still fires; absent: unlimited
    std::string condition;               // a filter, or empty

    // The kernel's key for triggers: an event has at most one trigger of a kind. An action and its
    // reverse are one kind; hist triggers with the same keys and values are.
    std::string kind() const;
    // The line for the `trigger` file that sets it; removal(): the one that removes it.
    std::string to_text() const;
    std::string removal() const;
    // True for actions that `gpufs trigger` sets; others are only shown.
    bool is_known() const;
    bool is_hist() const { return action == "hist"; }
};

// The actions of `gpufs trigger`.
inline constexpr std::string_view kTriggerActions[] = {
    "stacktrace", "traceon", "traceoff", "snapshot", "enable_event", "disable_event", "hist"};

// One line of a `trigger` file ("traceoff:count=1 if prev_state == 2"). Whether a hist trigger is
// " [active]" or " [paused]" is left out.
Trigger parse_trigger(std::string_view line);

// The triggers of a whole `trigger` file; comment lines are skipped.
std::vector<Trigger> parse_triggers(std::string_view file);

// The triggers that the event supports: the words after "# Available triggers:", which the kernel
// prints only while no trigger is set. Absent when the text lacks that line.
std::optional<std::vector<std::string>> available_triggers(std::string_view file);

}  // namespace gpufs
