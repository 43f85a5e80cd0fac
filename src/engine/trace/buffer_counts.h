#pragma once

#include <string_view>

namespace gpufs {

// Counters of records of a buffer, or of one CPU's part.
struct BufferCounts {
    unsigned long long entries = 0;  // recorded and not yet read or overwritten
    unsigned long long read = 0;     // consumed
    unsigned long long overrun = 0;  // overwritten before they were read
    unsigned long long dropped = 0;  // rejected by a full buffer
    // Rejected because interrupts filled the buffer during a write.
    unsigned long long commit_overrun = 0;

    unsigned long long rejected() const { return dropped + commit_overrun; }
    unsigned long long lost() const { return overrun + rejected(); }
    BufferCounts& operator+=(const BufferCounts& other);
};
// Parses a file per_cpu/cpuN/stats.
BufferCounts parse_buffer_counts(std::string_view stats);

}  // namespace gpufs
