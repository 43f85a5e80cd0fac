#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "lang/event/event_format.h"

namespace gpufs {

// A key, a value or a sort key of a hist trigger.
struct HistTerm {
    std::string text;      // as the kernel takes it: "common_pid.execname", "bytes_req.buckets=100"
    std::string field;     // "common_pid"; empty for a variable or an expression
    std::string modifier;  // "execname", "buckets"; empty: none
    Span at;               // in the source
};

// What a hist trigger counts: the occurrences of an event by keys, and the sums of values
// (Documentation/trace/histogram.rst of the kernel).
struct HistSpec {
    std::vector<HistTerm> keys;
    std::vector<HistTerm> values;     // without hitcount, which each histogram has
    std::vector<HistTerm> sort;       // empty: the largest hitcount first
    std::optional<std::string> size;  // how many entries there may be
    // Variables, and what is to be done at an occurrence, in the kernel's words:
    // "ts0=common_timestamp".
    std::vector<std::string> others;

    // In the kernel's order: "keys=comm:vals=hitcount,bytes:sort=hitcount.descending:size=2048".
    std::string argument() const;
};

// The parts are separated by blanks or colons, in any order: "key=prev_comm val=bytes", or the
// kernel's own "keys=prev_comm:vals=hitcount,bytes:sort=bytes". Throws SourceError.
HistSpec parse_hist_spec(const SourceText& source);

// Throws SourceError for a field that the event has not, or that the kernel cannot use so.
void check_hist_spec(const HistSpec& spec, const SourceText& source, const EventFormat& event);

// "keys=comm:vals=hitcount,bytes" of an argument, in whatever words the kernel shows it: two
// triggers of an event that have the same are of a kind.
std::string hist_kind(std::string_view argument);

}  // namespace gpufs
