#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/session/filters.h"
#include "engine/session/session.h"

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

// Counters of records of a buffer, or of one CPU's part.
struct BufferCounts {
    unsigned long long entries = 0;  // recorded and not yet read or overwritten
    unsigned long long read = 0;     // consumed
    unsigned long long overrun = 0;  // overwritten before they were read
    unsigned long long dropped = 0;  // rejected by a full buffer
    // Rejected because interrupts filled the buffer during a write.
    unsigned long long commit_overrun = 0;

    unsigned long long lost() const { return overrun + dropped + commit_overrun; }
    BufferCounts& operator+=(const BufferCounts& other);
};
// Parses a file per_cpu/cpuN/stats.
BufferCounts parse_buffer_counts(std::string_view stats);

// The current counters, summed over all CPUs.
struct BufferState : BufferCounts {
    bool is_on = false;
};
BufferState read_buffer_state(const Tracefs& at);

}  // namespace gpufs
