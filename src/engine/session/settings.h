#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/session/filters.h"
#include "engine/session/session.h"

namespace gpufs {

// One setting of a session's buffer, in words of `gpufs options`: NAME=VALUE.
struct Setting {
    std::string name, value;
    bool operator==(const Setting&) const = default;
};

// The settings that differ from what a new instance has, in the form that sets them again.
std::vector<Setting> changed_settings(const Session& session);

// Every setting with its value, in the form that sets it.
std::vector<Setting> all_settings(const Session& session);

// A plan for the settings: buffer (bytes per CPU, with units), clock, pids, children, cpus, and any
// name below options/ (on or off). Throws UsageError for a name or a value this kernel does not
// have.
SessionPlan plan_settings(const Session& session, const std::vector<Setting>& settings);

// Everything that is set, as the gpufs commands that would set it again, in the order to run them.
std::vector<std::string> commands_to_set_again(const Session& session,
                                               const std::vector<EventState>& states);

// What became of the records of a buffer, or of one CPU's.
struct BufferCounts {
    unsigned long long entries = 0;  // recorded and not yet read or overwritten
    unsigned long long read = 0;     // taken out
    unsigned long long overrun = 0;  // overwritten before they were read
    unsigned long long dropped = 0;  // refused by a full buffer
    // Refused while interrupts filled the buffer that was being written to.
    unsigned long long commit_overrun = 0;

    unsigned long long lost() const { return overrun + dropped + commit_overrun; }
    BufferCounts& operator+=(const BufferCounts& other);
};
// From the text of a file per_cpu/cpuN/stats.
BufferCounts parse_buffer_counts(std::string_view stats);

// What the buffer holds now, over all CPUs.
struct BufferState : BufferCounts {
    bool is_on = false;
};
BufferState read_buffer_state(const Tracefs& at);

}  // namespace gpufs
