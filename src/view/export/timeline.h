#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/loss.h"

namespace gpufs {

// The category of jobs on the rings of GPUs, of their waits, and of what drivers tell.
inline constexpr std::string_view kGpuCategory = "gpu";
// The name of the tracks on which jobs are while their ring runs them.
inline constexpr std::string_view kRunTrack = "run";
// The unit of the counters that say how many jobs a ring has.
inline constexpr std::string_view kJobsUnit = "jobs";

// A named value of what happened.
struct Argument {
    enum class Kind { unsigned_number, signed_number, address, text };
    std::string_view name;
    Kind kind = Kind::text;
    std::uint64_t number = 0;  // of a signed one its 64 bits
    std::string_view text;
};

// A row of a timeline.
struct Track {
    enum class Kind {
        group,    // has other tracks below it, and nothing of its own
        task,     // a thread; its parent is 0
        lane,     // anything else
        counter,  // values over time
    };
    std::uint32_t id = 0;      // counts from 1
    std::uint32_t parent = 0;  // a group's id; 0: none
    Kind kind = Kind::lane;
    std::string name;
    int tid = 0, pid = 0;  // of a task; pid is that of its process
    std::string unit;      // of a counter: "jobs"
};

// What happens on a track, at a time of the recording's clock.
struct Happening {
    std::uint32_t track = 0;
    std::uint64_t time = 0;
    std::string_view name, category;
    std::span<const Argument> arguments;
    // What has the same number, other than 0, is connected by arrows, in order of time.
    std::uint64_t flow = 0;
    bool is_flow_end = false;
};

// A CPU goes from one task to another (sched_switch).
struct TaskSwitch {
    std::uint64_t time = 0;
    int cpu = 0;
    int prev_pid = 0, prev_prio = 0;
    std::int64_t prev_state = 0;  // as the kernel of the recording has it
    int next_pid = 0, next_prio = 0;
    std::string_view prev_comm, next_comm;
};

// A task becomes able to run (sched_waking; sched_wakeup where that is not recorded).
struct Wakeup {
    std::uint64_t time = 0;
    int cpu = 0;    // where the waker is
    int waker = 0;  // a thread
    unsigned flags = 0;
    int pid = 0, prio = 0, target_cpu = 0;
    std::string_view comm;
};

// Events of a CPU are missing between two of its records.
struct Gap {
    int cpu = 0;
    std::uint64_t since = 0;  // the time of the record in front of it; where there is none, `time`
    std::uint64_t time = 0;   // of the record behind it
    Loss loss;                // how many
};

// Where and when a recording was made.
struct TimelineFacts {
    std::string clock;  // "mono"; empty if unknown
    std::string uname;  // "Linux host 6.12.41 x86_64"; empty if unknown
};

// Receives a timeline, in order of time, and writes it in some format. A track is added before
// anything happens on it. The slices of one track never overlap unless one is within the other; one
// that has no end when the timeline ends never ended.
class TimelineWriter {
public:
    virtual ~TimelineWriter() = default;

    virtual void start(const TimelineFacts& facts, std::uint64_t time) = 0;
    virtual void add_track(const Track& track) = 0;
    virtual void begin(const Happening& slice) = 0;
    // Ends the innermost slice of the track. Arguments are added to those of its begin.
    virtual void end(std::uint32_t track, std::uint64_t time,
                     std::span<const Argument> arguments) = 0;
    virtual void instant(const Happening& instant) = 0;
    virtual void count(std::uint32_t track, std::uint64_t time, std::int64_t value) = 0;
    virtual void switch_task(const TaskSwitch& change) = 0;
    virtual void wake(const Wakeup& wakeup) = 0;
    virtual void lose(const Gap& gap) = 0;
    // Nothing follows.
    virtual void finish() = 0;
};

}  // namespace gpufs
