#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/stall/cpu_occupancy.h"
#include "engine/stall/tracker.h"
#include "engine/trace/events.h"
#include "kernel/tracefs/tracefs.h"
#include "lang/trace_dat/record_merge.h"

namespace gpufs {

// How the kernel records what a StallTracker needs. The instance is the caller's.

// Its clock, and that tasks started by followed ones are followed.
void prepare_buffer(const Tracefs& instance);
// Bytes over all CPUs.
void size_buffer(const Tracefs& instance, std::uint64_t share);
// The tasks whose events are recorded, beside those that they start from now on.
void follow_tasks(const Tracefs& instance, const std::vector<int>& tids);
// Whether a kernel takes stacks into an instance; see triggers_stay_in_instance().
enum class Stacks : bool { no, yes };
// Turns the events on, with a stack at each switch-out into one of the states. Throws
// UnsupportedError where the kernel has no sched events or no stacktrace trigger.
void enable_stall_events(const Tracefs& instance, const StateSet& states, Stacks stacks);
// Turns them off again, as many as are there, and forgets the tasks; what is recorded stays.
void disable_stall_events(const Tracefs& instance, const StateSet& states);
// Turns the events of system calls off, which are most of all events.
void disable_syscall_events(const Tracefs& instance);
// The switches of every task, for a CpuOccupancy.
void enable_run_events(const Tracefs& instance);

// Reads the records of such an instance to a tracker.
class StallReader {
public:
    // Both are borrowed. Throws Error when an event is missing.
    StallReader(Events& events, StallTracker& tracker);

    void read(const TraceRecord& record);
    // From here on events of system calls only say who runs.
    void ignore_syscalls();
    // Tasks that the kernel's pid filter has lost by an exec since the last call.
    std::vector<int> take_execed();

private:
    enum class Kind : std::uint8_t {
        other,
        change,
        stack,
        waking,
        wakeup,
        syscall_enter,
        syscall_exit,
        newtask,
        exec,
        exit
    };
    struct Plan {
        Kind kind = Kind::other;
        const Field *a = nullptr, *b = nullptr, *c = nullptr, *d = nullptr, *e = nullptr;
    };
    void add(Events& events, std::string_view system, std::string_view name, Kind kind,
             std::vector<std::string_view> fields, bool is_optional = false);

    StallTracker& tracker_;
    std::vector<Plan> plans_;  // by event id
    Field common_pid_, common_flags_;
    std::unordered_map<int, std::uint64_t> last_ns_;  // by CPU
    std::vector<int> execed_;
};

// Reads the records of an instance with every task's switches.
class RunReader {
public:
    RunReader(Events& events, CpuOccupancy& log);
    void read(const TraceRecord& record);

private:
    CpuOccupancy& log_;
    int id_ = -1;
    const Field *prev_pid_ = nullptr, *prev_comm_ = nullptr;
    const Field *next_pid_ = nullptr, *next_comm_ = nullptr;
};

}  // namespace gpufs
