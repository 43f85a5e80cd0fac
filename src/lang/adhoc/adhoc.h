#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/event/event_format.h"
#include "lang/expr/expr.h"
#include "lang/program/program.h"

namespace gpufs {

// Programs for a question asked on the command line: how often, how large, how long, from where.
// They are Programs like those of .bpf files; what makes them knows this machine's events only by
// the formats it is given.

// An event that a question is about, as one machine has it.
struct AdhocEvent {
    ProbeTarget target;  // of a tracepoint: one event, no pattern
    // A tracepoint's, function_fields(), or just the name: "profile", "99hz". The whole name is
    // what the key `probe` shows.
    EventFormat format;
    bool is_record = false;     // a tracepoint
    bool from_pattern = false;  // found by a pattern, not by its name
};

// A name somebody wrote.
struct AdhocWord {
    std::string text;
    SourceRef at;
};

// Whose hits count. The task is the one that runs when the event happens.
struct AdhocFilter {
    std::vector<int> pids;                // processes or threads; empty: all
    std::optional<Expression> comm;       // COMM ~ "..."
    std::optional<Expression> condition;  // Program::sources has its text at `condition_source`
    std::size_t condition_source = 0;
};

struct AdhocQuestion {
    std::string title;
    std::vector<SourceText> sources;
    std::vector<AdhocEvent> events;  // one or more
    std::vector<AdhocWord> keys;
    AdhocFilter filter;
    std::size_t max_keys = 0;  // how many the maps have room for; 0: as many as suits them
};

// A key is a field of the event, or what is known everywhere: comm, pid (of the process), tid, cpu,
// uid, cgroup, kstack, ustack, probe. A field of the event that is named so wins; `process` is pid
// all the same, and common_pid is tid.
//
// Drops events that a pattern found and that lack a field that the keys, the condition or `also`
// name; as long as one event is left. Says of how many it dropped which field was missing; empty:
// none.
std::string drop_events_without_fields(AdhocQuestion& question,
                                       const std::vector<AdhocWord>& also = {});

// All of these throw UsageError with every mistake in the user's words: names that an event does
// not have, numbers and texts where the other is wanted, keys that are too long.

// Map "count": hits, by the keys.
Program make_count(const AdhocQuestion& question);

// Map "stacks_of": hits by kernel and user stack, and the keys. A user stack brings the process.
Program make_stacks(const AdhocQuestion& question);

// Map "hist": a histogram of a number, by the keys; `how` is log2 or linear.
Program make_hist(const AdhocQuestion& question, const AdhocWord& field, const Aggregation& how);

// What pairs a start with its end: a name at the start and one at the end, which is often the same.
struct AdhocPair {
    AdhocWord start, end;
};
// "us": 1000. 0 for what is no unit of latencies.
std::uint64_t nanoseconds_in(std::string_view unit);
struct AdhocLatency {
    std::vector<AdhocEvent> starts;  // the question's events are the ends
    std::vector<AdhocPair> pairs;    // one or more
    std::string unit = "us";         // ns, us, ms or s
    std::optional<std::uint64_t> over_ns;
    // sched:sched_process_exit, where there is one: keys of threads then stay until their thread
    // ends, which costs less than to insert and delete one for each start.
    std::optional<AdhocEvent> thread_exit;
};
// Map "latency": a histogram of the time from a start to the next end with the same key, by the
// question's keys, which are the end's. The filter is for the starts, or, where those lack its
// fields, for the ends. With over_ns record "slow" comes for each that takes so long or longer. A
// start that found no room is a loss. Tallies: starts without an end, starts that a later one of
// the same key replaced, and, without a filter, ends without a start.
Program make_latency(const AdhocQuestion& question, const AdhocLatency& latency);

}  // namespace gpufs
