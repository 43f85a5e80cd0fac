#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/trace/events.h"
#include "lang/trace_dat/record_merge.h"

namespace gpufs {

// How long things took that begin with one event and end with another: the records of a trace, in
// order, become pairs whose keys have the same values. Keeps the longest.
class RecordPairs {
public:
    struct Wanted {
        std::string begin, end;         // "irq:irq_handler_entry"
        std::vector<std::string> keys;  // fields of both that hold numbers, or CPU
        std::size_t most = 0;           // how many to keep
    };
    // An event that the catalog does not have never occurs.
    RecordPairs(Events& events, Wanted wanted);

    void add(const TraceRecord& record);
    // Begins so far have no end any more: for where records were lost.
    void forget_open();

    struct Pair {
        std::uint64_t took_ns = 0;
        TraceRecord begin;  // without its bytes
        std::vector<std::byte> bytes;
    };
    // The longest first.
    std::vector<Pair> longest() const;
    // 0 when there was none.
    std::uint64_t longest_ns() const { return longest_ns_; }
    const Wanted& wanted() const { return wanted_; }
    std::size_t count() const { return count_; }
    // Begins without an end and ends without a begin; of the begins only the 65,536 latest wait.
    std::size_t unpaired() const { return open_.size() + cut_; }

private:
    struct Side {
        int id = -1;
        std::vector<const Field*> keys;  // null: CPU
    };
    using Key = std::vector<std::uint64_t>;
    Side find_side(Events& events, const std::string& name) const;
    void forget_older_half();
    static Key key_of(const Side& side, const TraceRecord& record);

    Wanted wanted_;
    Side begin_, end_;
    std::map<Key, Pair> open_;
    std::vector<Pair> longest_;  // a heap, the shortest on top
    std::uint64_t longest_ns_ = 0;
    std::size_t count_ = 0, cut_ = 0;
};

}  // namespace gpufs
