#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "engine/trace/buffer_counts.h"
#include "kernel/tracefs/tracefs.h"
#include "lang/trace_dat/record_merge.h"

namespace gpufs {

// The CPUs with a buffer in a tracefs directory, ascending.
std::vector<int> buffer_cpus(const Tracefs& tracefs);
// The layout of this directory's sub-buffers, from events/header_page.
PageLayout page_layout(const Tracefs& tracefs);

// Consumes the records of a tracefs directory's ring buffer, for live output: records read are
// removed from the buffer, and trace_pipe of this directory is busy meanwhile.
//
//   RawBuffer buffer(instance);
//   while (buffer.wait(stop.fd()))
//       if (buffer.drain())
//           while (const TraceRecord* record = buffer.next()) ...
//   buffer.drain_rest();
//   while (const TraceRecord* record = buffer.next()) ...
class RawBuffer {
public:
    // Throws SysError.
    explicit RawBuffer(const Tracefs& tracefs);
    RawBuffer(const RawBuffer&) = delete;
    RawBuffer& operator=(const RawBuffer&) = delete;

    // Sleeps until there is something to drain, or until `limit`. Wake-ups cost the traced machine
    // time, so after one that found records, first waits a few milliseconds for more. Returns false
    // as soon as `stop_fd` is readable (-1: none).
    bool wait(int stop_fd, std::chrono::milliseconds limit = std::chrono::hours(1));

    // Reads the buffers, up to a bound that limits memory. Returns true if next() may return
    // records: new ones, or ones that the last drain held back.
    bool drain();
    // From now on next() holds nothing back and reads pages as needed. If writers are active, it
    // ends after one buffer's worth.
    void drain_rest();
    // The next record in order of time; null if there is none now. Holds a record back until the
    // next drain if an earlier one of another CPU may still come.
    const TraceRecord* next();

    // Becomes readable when any CPU has a record; -1 if the kernel or another reader of trace_pipe
    // prevents that (then wait() polls every few milliseconds).
    int wake_fd() const { return wake_.get(); }
    const std::vector<std::string>& damage() const { return merge_->damage(); }
    // What was lost so far: events that were overwritten since the buffer was last read, events
    // that it had no room for since this object came, and damaged pages. Where a page does not say
    // how many were overwritten, per_cpu's counters do. Throws SysError.
    LossLedger losses() const;
    // Whether a page that was read said that events were lost before it.
    bool has_lost() const;

private:
    using Bytes = std::vector<std::byte>;
    struct Cpu {
        Fd fd;
        std::deque<Bytes> pages;        // read, not parsed yet
        Bytes current;                  // being parsed
        std::uint64_t complete_to = 0;  // the kernel has no earlier records left
        bool is_empty = true;           // the last read found no more
        std::string size_file;
        Fd stats;
        BufferCounts at_start;
        Loss overwritten;  // what pages said
        std::size_t may_pull = 0;
    };
    bool read_page(Cpu& cpu);
    std::size_t read_all(std::size_t pages_a_cpu);
    std::optional<RingPage> next_page(std::size_t i);
    std::size_t pages_of(const Cpu& cpu) const;

    PageLayout layout_;
    Fd wake_;
    std::vector<Cpu> cpus_;
    std::vector<Bytes> spare_;
    std::size_t pages_a_cpu_ = 16;
    std::uint64_t latest_ = 0;   // latest page start read by the last drain but one
    std::uint64_t reached_ = 0;  // the same of the last drain
    std::uint64_t horizon_ = 0;  // records up to this time are in order
    bool found_some_ = false, has_more_ = false;  // results of the last drain
    bool pulls_ = false;                          // next() reads pages
    std::unique_ptr<RecordMerge> merge_;
};

}  // namespace gpufs
