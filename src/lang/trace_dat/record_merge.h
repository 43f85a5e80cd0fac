#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "lang/trace_dat/clock.h"
#include "lang/trace_dat/ring_page.h"

namespace gpufs {

// One record of a trace, live or recorded. `bytes` points into its page.
struct TraceRecord {
    std::uint64_t timestamp = 0;  // in units of the trace_clock, after its correction
    int cpu = 0;
    // This CPU's events that were lost right before this one.
    Loss lost_before;
    RecordBytes bytes;
    std::size_t stream = 0;  // index of its sequence in RecordMerge

    // The event's id: common_type, the first field of every record. -1 if the record is too short.
    int id() const;
};

// Merges the records of several sequences of pages, one or more per CPU, by time. At equal times
// the sequence of lower index comes first; with ascending CPUs this is the kernel's order. Holds
// one record per sequence, and copies none but those that peek_behind() reads.
class RecordMerge {
public:
    // Returns the next page of sequence i; absent while there is none. The page must stay valid
    // until the next call for the same i.
    using NextPage = std::function<std::optional<RingPage>(std::size_t i)>;
    // `clock` makes times of the stamps in the pages; null: they are the times. Borrowed.
    RecordMerge(std::vector<int> cpus, NextPage next_page, const TraceClock* clock = nullptr);

    // The next record with a time up to `limit`, valid until the next call. Null when there is none
    // yet.
    const TraceRecord* next(std::uint64_t limit = std::numeric_limits<std::uint64_t>::max());
    // The n-th record, from 0 on, that follows the one that next() returned last in the same
    // sequence; that one becomes invalid. Null when there is none. Not for sequences that grow.
    const TraceRecord* peek_behind(std::size_t n);
    // Removes that record, which peek_behind(n) returned: next() will not return it. Valid until
    // the next call.
    const TraceRecord* take_behind(std::size_t n);
    // Asks sequences that had no page for one again.
    void refill();
    // Damage found in pages, one line each, at most a hundred. What the rest of a damaged page held
    // is lost with it, and nobody knows how much that was.
    const std::vector<std::string>& damage() const { return damage_; }

private:
    // A copy of a record that was read before its turn.
    struct Held {
        TraceRecord record;
        std::vector<std::byte> bytes;
    };
    struct Stream {
        RingPage page;
        TraceRecord record;
        Loss lost;  // to be reported with the next record
        bool is_dry = true;
        std::deque<Held> ahead;  // what follows the record, as far as peek_behind() read it
        Held held;               // the record, if it was one of those
    };
    bool read(std::size_t i, TraceRecord& record);
    bool advance(std::size_t i);
    bool is_before(std::size_t a, std::size_t b) const;
    void sift_up(std::size_t at);
    void sift_down(std::size_t at);

    NextPage next_page_;
    const TraceClock* clock_;
    std::vector<Stream> streams_;
    std::vector<std::size_t> heap_;  // indices of streams with a record; the earliest record on top
    bool top_is_used_ = false;       // next() returned the top's record
    Held taken_;                     // by take_behind()
    std::vector<std::string> damage_;
};

}  // namespace gpufs
