#pragma once

#include <cstdint>
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
    // In a recording of ours: taken from the buffer or left in it, and without room on the disk.
    unsigned long long unwritten = 0;

    unsigned long long rejected() const { return dropped + commit_overrun; }
    unsigned long long lost() const { return overrun + rejected(); }
    BufferCounts& operator+=(const BufferCounts& other);
};
// Parses a file per_cpu/cpuN/stats.
BufferCounts parse_buffer_counts(std::string_view stats);

// The size of a ring buffer in KiB, from the text of buffer_size_kb or buffer_total_size_kb:
// "1408", or "7 (expanded: 1408)" before the first use of the buffer, which makes it as large as it
// will be. 0 when the text is neither.
std::uint64_t parse_buffer_kb(std::string_view text);

}  // namespace gpufs
