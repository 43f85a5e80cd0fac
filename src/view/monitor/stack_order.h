#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/event/open_events.h"
#include "lang/trace_dat/record_merge.h"

namespace gpufs {

// Puts stacks directly below their events, though records of other CPUs and of interrupts may come
// between. A stack that belongs to no event stays where it is. Holds back at most 10,000 records;
// beyond that, writes a record without waiting for its stack.
class StackOrder {
public:
    using Write = std::function<void(std::string_view lines)>;
    explicit StackOrder(Write write) : write_(std::move(write)) {}

    // Adds the lines of a record. Records must come in order of time.
    void add(const TraceRecord& record, bool is_stack, std::string_view lines);
    // Writes all records held back.
    void flush();

private:
    struct Entry {
        bool is_open = false;  // a stack may follow
        std::string lines;
    };
    void write_front();

    Write write_;
    std::deque<Entry> held_;
    std::uint64_t written_ = 0;                    // number of entries written before held_
    std::vector<OpenEvents<std::uint64_t>> open_;  // by stream: the entries' numbers
};

}  // namespace gpufs
