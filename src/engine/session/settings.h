#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/session/filters.h"
#include "engine/session/session.h"
#include "engine/trace/buffer_counts.h"

namespace gpufs {

// One setting of a session's buffer, as in `gpufs options`: NAME=VALUE.
struct Setting {
    std::string name, value;
    bool operator==(const Setting&) const = default;
};

// The settings that differ from those of a new instance, in the syntax that sets them.
std::vector<Setting> changed_settings(const Session& session);

// All settings with their values, in the syntax that sets them.
std::vector<Setting> all_settings(const Session& session);

// Plans settings: buffer (bytes per CPU, with units), clock, pids, children, cpus, and any name in
// options/ (on or off). Throws UsageError for a name or value that this kernel does not have.
SessionPlan plan_settings(const Session& session, const std::vector<Setting>& settings);

// The gpufs commands that would restore everything that is set, in the order to run them.
std::vector<std::string> commands_to_set_again(const Session& session,
                                               const std::vector<EventState>& states);

// The current counters, summed over all CPUs.
struct BufferState : BufferCounts {
    bool is_on = false;
};
BufferState read_buffer_state(const Tracefs& at);

}  // namespace gpufs
