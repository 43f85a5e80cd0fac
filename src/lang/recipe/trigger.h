#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// An event trigger in tracefs words: what the kernel does when the event occurs.
//
//   stacktrace:5 if prev_state == 2
//   enable_event:sched:sched_wakeup
struct Trigger {
    std::string action;    // "stacktrace", "traceoff", "enable_event", "hist", ...
    std::string argument;  // the event of enable_event and disable_event, as SYSTEM:EVENT;
                           // for actions gpufs does not set: all that follows the action
    std::optional<unsigned long> count;  // how often it still fires; absent: without end
    std::string condition;               // a filter, or empty

    // What the kernel keys it by: it allows one trigger of this kind on an event.
    std::string kind() const;
    // As it is written to the `trigger` file to set it, and to remove it.
    std::string to_text() const;
    std::string removal() const;
    // True for what `gpufs trigger` sets; others (hist) are shown and left alone.
    bool is_known() const;
};

// The actions of `gpufs trigger`.
inline constexpr std::string_view kTriggerActions[] = {
    "stacktrace", "traceon", "traceoff", "snapshot", "enable_event", "disable_event"};

// One line of a `trigger` file ("traceoff:count=1 if prev_state == 2").
Trigger parse_trigger(std::string_view line);

// A whole `trigger` file: what is set, without the comment lines.
std::vector<Trigger> parse_triggers(std::string_view file);

// What this kernel can do on the event: the words behind "# Available triggers:", which the kernel
// prints only while none is set. Absent when the text does not say.
std::optional<std::vector<std::string>> available_triggers(std::string_view file);

}  // namespace gpufs
