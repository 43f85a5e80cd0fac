#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "lang/trace_dat/ring_page.h"

namespace gpufs {

// One record of a trace, wherever it came from. `bytes` is borrowed from its page.
struct TraceRecord {
    std::uint64_t timestamp = 0;  // in units of the trace_clock
    int cpu = 0;
    // Events of this CPU that were lost right before this one: a number, or kLostUnknown.
    std::uint64_t lost_before = 0;
    RecordBytes bytes;
    std::size_t stream = 0;  // which of the merged sequences it came from

    // The event's id: common_type, which is the first field of every record. -1 for a cut one.
    int id() const;
};

// The records of several sequences of pages, one or more a CPU, as one by time; of equal times the
// first sequence comes first, which is the kernel's order for ascending CPUs. Holds one record a
// sequence and copies none.
class RecordMerge {
public:
    // The next page of cpus[i]; absent while there is none. A page's bytes must stay until the next
    // page of the same CPU is asked for.
    using NextPage = std::function<std::optional<RingPage>(std::size_t i)>;
    RecordMerge(std::vector<int> cpus, NextPage next_page);

    // The next record, if its time is not beyond `limit`; it is valid until the next call. Null
    // when there is none yet.
    const TraceRecord* next(std::uint64_t limit = std::numeric_limits<std::uint64_t>::max());
    // The record behind the one that next() gave out last, in the same sequence, whatever else
    // comes before it by time; that one is good no more. Null when there is none yet.
    const TraceRecord* peek_behind();
    // Goes on behind it: next() does not give it out.
    void skip_behind();
    // Asks CPUs that had no page for one again.
    void refill();
    // What was wrong with pages, one line each, of the first hundred. The rest of such a page
    // counts as lost.
    const std::vector<std::string>& damage() const { return damage_; }

private:
    struct Stream {
        RingPage page;
        TraceRecord record;
        std::uint64_t lost = 0;  // to report with the next record
        bool is_dry = true;
    };
    bool advance(std::size_t i);
    bool is_before(std::size_t a, std::size_t b) const;
    void sift_up(std::size_t at);
    void sift_down(std::size_t at);

    NextPage next_page_;
    std::vector<Stream> streams_;
    std::vector<std::size_t> heap_;  // streams with a record, the earliest on top
    bool top_is_used_ = false;       // the top's record was given out
    // And its stream has moved on since: to a record, or not.
    std::optional<bool> top_has_next_;
    std::vector<std::string> damage_;
};

}  // namespace gpufs
