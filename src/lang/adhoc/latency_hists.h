#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lang/adhoc/adhoc.h"
#include "lang/trigger/trigger.h"

namespace gpufs {

// A question about latencies that the kernel answers without a program, by hist triggers
// (Documentation/trace/histogram.rst). One on START keeps the time of the last start by the values
// of --key, in a variable. One on END takes it, and makes an event of each pair, a synthetic one.
// Triggers on that one count the times.
//
// The kernel's buckets are of one width a trigger. So there is a trigger for each range of a factor
// of eight, whose buckets are as wide as those of a BPF program's histogram (Aggregation) where the
// range begins. It has at most 256 of them for each key, so that none is dropped without keys.

// A trigger, and what it counts.
struct HistTable {
    enum class Role {
        starts,
        ends,     // all, with a start or without one
        pairs,    // makes the synthetic event
        refused,  // pairs whose end a filter refuses
        bucket,   // the times of one range, by the keys
        least,    // the shortest time, by the keys
        most,
        longest,  // the one pair that took longest
        threads,  // that those start whose starts are looked at
    };
    Role role = Role::bucket;
    std::string event;  // "sched:sched_switch"
    Trigger trigger;
};

struct LatencyHists {
    // A value of a pair, as the synthetic event has it: a field, or a common one.
    struct Column {
        std::string field;
        bool is_task_name = false;  // common_pid, with its task's name
    };

    // The maps and reports that show the answer, without code: "latency" and the tallies "unended",
    // starts that had no end of their own, and "unmatched". Where the longest is told, also the map
    // "longest", a maximum.
    Program program;
    std::string start_event, end_event;
    bool is_in_one_thread = false;  // START and END of a pair always are
    std::uint64_t unit_ns = 0;
    std::vector<Column> by;          // of the keys of "latency"; empty: there are none
    std::vector<Column> longest_by;  // of the keys of "longest"

    // Parts of triggers.
    std::vector<std::string> start_keys, end_keys;            // of the pairs
    std::vector<std::string> start_variables, end_variables;  // "s0=prev_prio"
    std::vector<std::string> fields;     // of the synthetic event, besides the time: "s32 v0"
    std::vector<std::string> arguments;  // what these get: "$s0"
    std::string start_condition, end_condition, pair_condition, thread_condition;
    std::uint64_t max_keys = 0;  // of each table by keys
    bool counts_ends = false, counts_refused = false, tells_longest = false;
};

struct LatencyHistChoice {
    std::vector<int> threads;  // only hits while one of these runs; empty: all
    // Count the threads that these start. Needs the event task:task_newtask.
    bool counts_new_threads = false;
    std::optional<int> left_out;  // a thread whose system calls do not count
    bool tells_longest = false;
};
// Throws UsageError with the mistakes in the user's words that make_latency_tables() finds, and
// SourceError for the first thing that hist triggers cannot tell.
LatencyHists make_latency_hists(const AdhocQuestion& question, const AdhocLatency& latency,
                                const LatencyHistChoice& choice);

inline constexpr const char *kUnendedMap = "unended", *kLongestMap = "longest";

// What is known only where the triggers are set.
struct HistSetting {
    std::string synthetic;        // the event's name
    std::string start_condition;  // one more for START; empty: none
    bool takes_snapshot = false;  // of the buffer, at the longest pair so far
};
// "gpufs_1_2 u64 lat; s32 v0": a line for the file `synthetic_events`.
std::string synthetic_definition(const LatencyHists& hists, const HistSetting& setting);
// In the order in which they are to be set. Of an event the kernel runs the oldest first.
std::vector<HistTable> hist_tables(const LatencyHists& hists, const HistSetting& setting);

// What the trigger of the role `longest` keeps of a pair, besides its fields.
inline constexpr const char* kHistTime = "lat";  // nanoseconds
inline constexpr const char* kHistEnd = "at";    // when it ended, by CLOCK_MONOTONIC

}  // namespace gpufs
