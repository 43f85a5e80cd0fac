#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/event/event_format.h"
#include "lang/expr/expr.h"
#include "lang/probe/argument.h"
#include "lang/program/program.h"
#include "lang/variable/variable_value.h"

namespace gpufs {

// Generates Programs for questions on the command line: how often, how large, how long, from where.
// They are Programs like those of .bpf files; the formats of this machine's events are passed in.

// How a program reads a field of a probe (fetched.h): the argument of a static probe that has the
// field's name; or a variable of the code, a register, or a constant; then, for each offset, what
// is in memory so far behind it.
struct FetchedField {
    bool is_static_argument = false;
    std::optional<VariableValue> variable;
    EnumWords words;                  // what its numbers are called
    std::optional<std::size_t> base;  // in struct pt_regs
    std::int64_t constant = 0;        // without one
    std::vector<Fetch::Step> steps;
    bool is_asked_for = true;  // else nothing is read
};

// An event of a question, as it is on one machine.
struct AdhocEvent {
    ProbeTarget target;  // a tracepoint: a single event, not a pattern
    // The format of a tracepoint or of function_fields(); otherwise only the name: "profile",
    // "99hz". The key `probe` shows the full name.
    EventFormat format;
    bool is_record = false;     // it is a tracepoint
    bool from_pattern = false;  // found by a pattern, not by its name
    // The function that is probed, or those of a pattern, by function_cookie(), in their readable
    // form. Of several the target has cookies.
    EnumWords functions;
    // Of a static probe, of a dynamic one, whose place in code the target is, and of a place whose
    // variables are read: for each field of the format.
    std::vector<FetchedField> fetched;
};

// The key that tells functions apart.
inline constexpr const char* kFunctionKey = "func";

// A name written by the user.
struct AdhocWord {
    std::string text;
    SourceRef at;
};

// Restricts which hits count. The task is the one that runs when the event happens.
struct AdhocFilter {
    std::vector<int> pids;                // processes or threads; empty: all
    bool followed = false;                // only followed tasks (lang/ir/followed.h)
    std::optional<Expression> comm;       // COMM ~ "..."
    std::optional<Expression> condition;  // its text is Program::sources[condition_source]
    std::size_t condition_source = 0;
};

struct AdhocQuestion {
    std::string title;
    std::vector<SourceText> sources;
    std::vector<AdhocEvent> events;  // at least one
    std::vector<AdhocWord> keys;
    AdhocFilter filter;
    std::size_t max_keys = 0;  // capacity of the maps; 0: a default for the kind of map
};

// A key is a field of the event, or one of comm, pid (of the process), tid, cpu, uid, cgroup,
// kstack, ustack, probe, or of probed functions func. A field with such a name takes precedence;
// `process` always means the pid, and common_pid is the tid.
//
// Drops events that were found by a pattern and lack a field named in the keys, the condition or
// `also`, as long as one event is left. Returns a sentence with the number of events dropped and
// the missing field; empty if none.
std::string drop_events_without_fields(AdhocQuestion& question,
                                       const std::vector<AdhocWord>& also = {});

// The functions below throw UsageError with all mistakes in the user's words: names that an event
// does not have, texts instead of numbers and vice versa, keys that are too long.

// Map "count": the number of hits by the keys.
Program make_count(const AdhocQuestion& question);

// Map "stacks_of": the number of hits by kernel and user stack and the keys. Adds the process as a
// key for the user stack.
Program make_stacks(const AdhocQuestion& question);

// Map "hist": a histogram of a number by the keys; `how` is log2 or linear.
Program make_hist(const AdhocQuestion& question, const AdhocWord& field, const Aggregation& how);

// Map "stats": count, sum, minimum and maximum of a number by the keys.
Program make_stats(const AdhocQuestion& question, const AdhocWord& field);

// A name at the start and one at the end, often the same, whose values must be equal.
struct AdhocPair {
    AdhocWord start, end;
};
// 1000 for "us"; 0 if the unit is not one of latencies.
std::uint64_t nanoseconds_in(std::string_view unit);
struct AdhocLatency {
    std::vector<AdhocEvent> starts;  // the question's events are the ends
    std::vector<AdhocPair> pairs;    // at least one
    std::string unit = "us";         // ns, us, ms or s
    std::optional<std::uint64_t> over_ns;
    std::vector<AdhocWord> shown;  // what records "slow" have besides the keys and the process
    // sched:sched_process_exit, if it exists: keys of threads are then kept until the thread exits,
    // which costs less than inserting and deleting one for each start.
    std::optional<AdhocEvent> thread_exit;
};
// The maps of latencies that others look at.
inline constexpr const char *kLatencyMap = "latency", *kStartsMap = "starts",
                            *kUnmatchedMap = "unmatched";
// Map "latency": a histogram of the time from a start to the next end with the same pair values, by
// the question's keys: values of the end or, where it has no such field and where "start." stands
// in front of the name, of the start. The filter applies to the starts, or to the ends if the
// starts lack its fields. With over_ns, sends a record "slow" for each time >= over_ns. A start
// that found no room counts as a loss. Tallies: starts without an end, starts replaced by a later
// one with the same key, and, without a filter, ends without a start.
Program make_latency(const AdhocQuestion& question, const AdhocLatency& latency);
// The same without programs: its maps, and how they are shown.
Program make_latency_tables(const AdhocQuestion& question, const AdhocLatency& latency);

}  // namespace gpufs
