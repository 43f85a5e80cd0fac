#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gpufs {

// Puts stacks directly below their events: a stack is the next record after its event on the same
// CPU, but records of other CPUs may come between. Holds back at most 10,000 records; beyond that,
// writes a record without waiting for its stack.
class StackOrder {
public:
    using Write = std::function<void(std::string_view lines)>;
    explicit StackOrder(Write write) : write_(std::move(write)) {}

    // Adds the lines of a record. Records must come in order of time.
    void add(std::size_t stream, bool is_stack, std::string_view lines);
    // Writes all records held back.
    void flush();

private:
    struct Entry {
        std::size_t stream = 0;
        bool is_open = false;  // a stack may follow
        std::string lines;
    };
    void write_front();

    Write write_;
    std::deque<Entry> held_;
    std::uint64_t written_ = 0;                            // number of entries written before held_
    std::unordered_map<std::size_t, std::uint64_t> open_;  // by stream: the entry's number
};

}  // namespace gpufs
