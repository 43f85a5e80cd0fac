#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernel/tracefs/tracefs.h"
#include "lang/trace_dat/record_merge.h"

namespace gpufs {

// The current contents of a tracefs directory's ring buffer, read through mmap (Linux 6.10 and
// later) without consuming records or stopping the buffer. Uses memory for one page per CPU.
class BufferSnapshot {
public:
    // Absent if the kernel cannot map the buffer: before Linux 6.10, and while a snapshot trigger
    // is set. Throws SysError.
    static std::optional<BufferSnapshot> open(const Tracefs& tracefs);
    BufferSnapshot(BufferSnapshot&&) noexcept;
    ~BufferSnapshot();

    // The next record in order of time; null at the end. Records that the writer overwrote before
    // they were copied count as lost.
    const TraceRecord* next();
    // Events overwritten before the snapshot, over all CPUs.
    std::uint64_t overrun() const;
    const std::vector<std::string>& damage() const;

private:
    class Cpu;
    struct State;
    explicit BufferSnapshot(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace gpufs
