#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpufs::api {

// One field of an event.
struct EventField {
    std::string name;         // "prev_comm"
    std::string declaration;  // "char prev_comm[16]"
};

// What a kernel knows of one of its events.
struct EventInfo {
    std::string name;                // "sched:sched_switch"
    int id = 0;                      // in the records of this boot
    std::vector<EventField> fields;  // in the kernel's order, without common_*
};

// The events of the running kernel that the patterns mean: "sched:sched_switch", "sched_switch",
// "sched", "drm:*"; all of them without a pattern. Throws UsageError for a pattern that means none,
// SysError without access to tracefs.
std::vector<std::string> event_names(const std::vector<std::string>& patterns = {});

// One event of the running kernel. Throws UsageError with a "did you mean".
EventInfo event_info(const std::string& name);

// The events of the running kernel that have all fields of the expression, and against which it
// checks. Throws UsageError when there is none.
std::vector<std::string> events_for(const std::string& expression);

// The text of a tracefs filter that says the same as the expression does for this event. Throws
// UsageError, with a caret under the expression, where the two do not suit.
std::string tracefs_filter(const std::string& expression, const std::string& event);

}  // namespace gpufs::api
