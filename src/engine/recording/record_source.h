#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/cat.h"
#include "base/loss.h"
#include "engine/trace/buffer_counts.h"
#include "engine/trace/context.h"
#include "lang/trace_dat/record_merge.h"

namespace gpufs {

// How much of a file's records has been read, and how much will be: bytes.
struct RecordingProgress {
    std::uint64_t read = 0, all = 0;
};

// The top-level buffer or an instance.
struct RecordingBuffer {
    std::string name;  // empty: the top-level buffer
    std::string clock;
    std::vector<int> cpus;
    std::uint64_t bytes = 0;  // size of its records in the file
};

// Other information in the file; empty if missing.
struct RecordingFacts {
    std::string format;       // "trace.dat version 7", "perf.data", "text"
    unsigned version = 0;     // of a trace.dat: 6 or 7
    std::size_t cpus = 0;     // number of CPUs of the machine
    std::string compression;  // "zstd 1.5.4"
    std::string uname;        // "Linux host 6.12.41 x86_64"
    std::string recorder;     // version of the recording program
    std::string clock;        // "local"
    // The kernel's counters at the end of the recording, as in per_cpu/cpuN/stats; for an
    // instance after a line "Buffer: NAME".
    std::string statistics;
    // A record that has a stack of the kernel or of its process has all there was: the other is
    // empty, not left out.
    bool has_whole_stacks = false;
};

// The CPUs whose records are wanted: all where none is named.
class WantedCpus {
public:
    explicit WantedCpus(std::vector<unsigned> cpus = {}) : cpus_(std::move(cpus)) {}
    bool has(std::integral auto cpu) const {
        return cpus_.empty() || std::ranges::count(cpus_, static_cast<unsigned>(cpu)) > 0;
    }

private:
    std::vector<unsigned> cpus_;
};

// For damage(): what a CPU lost behind its last record.
inline std::string lost_behind_last(std::uint64_t cpu, const Loss& lost) {
    return cat("CPU ", cpu, ": ", lost.least, lost.is_exact() ? "" : " or more",
               " records behind its last one are lost");
}

// For notes(): stacks that are of no record here.
inline std::string stray_stacks_text(std::uint64_t count) {
    return cat(count, count == 1 ? " stack belongs" : " stacks belong",
               " to no event that is recorded");
}

// What each format of recordings has a reader for; TraceFile chooses one by the file's content, and
// its members say what these do.
class RecordSource {
public:
    virtual ~RecordSource() = default;

    virtual TraceContext& context() = 0;
    virtual const RecordingFacts& facts() const = 0;
    virtual const std::vector<RecordingBuffer>& buffers() const = 0;
    // An index of buffers().
    virtual std::size_t buffer_of(const TraceRecord& record) const = 0;

    virtual const TraceRecord* next() = 0;
    // The n-th record, from 0 on, behind the last one on the same CPU and in the same buffer, even
    // if others are earlier; null if there is none. Invalidates the last record.
    virtual const TraceRecord* peek_behind(std::size_t n) = 0;
    // Removes that record, which peek_behind(n) returned: next() does not return it. Valid until
    // the next call.
    virtual const TraceRecord* take_behind(std::size_t n) = 0;
    virtual void rewind(const std::vector<unsigned>& cpus, std::uint64_t from) = 0;

    // What the kernel counted of a stream's records when the recording ended; absent where the
    // recording does not tell.
    virtual std::optional<BufferCounts> counts_of(std::size_t) const { return std::nullopt; }

    // context() stays as it is while records are read, but for names of tasks.
    virtual bool has_fixed_context() const { return false; }

    virtual RecordingProgress progress() const = 0;
    virtual std::vector<std::string> damage() const = 0;
    // What the format cannot tell, a sentence each.
    virtual std::vector<std::string> notes() const { return {}; }
};

}  // namespace gpufs
