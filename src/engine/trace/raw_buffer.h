#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "kernel/tracefs/tracefs.h"
#include "lang/trace_dat/record_merge.h"

namespace gpufs {

// The CPUs whose buffers a tracefs directory has, ascending.
std::vector<int> buffer_cpus(const Tracefs& tracefs);
// The shape of this directory's sub-buffers, from events/header_page.
PageLayout page_layout(const Tracefs& tracefs);

// Takes the records out of a tracefs directory's ring buffer, for live output: what was read is
// gone from the buffer, and trace_pipe of this directory is busy meanwhile.
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

    // Sleeps until there is something to drain, or the limit. A wake-up costs the traced machine
    // something, so after one that found records it first lets more of them gather for a few
    // milliseconds. False as soon as `stop_fd` is readable (-1: none).
    bool wait(int stop_fd, std::chrono::milliseconds limit = std::chrono::hours(1));

    // Reads what is in the buffers, up to a bound that keeps memory small. True when next() may
    // have records: these, or what the last drain held back.
    bool drain();
    // From here on next() gives all there is, holding nothing back, and reads pages as it needs
    // them. With a writer at work it ends after one buffer's worth.
    void drain_rest();
    // The next record in order, null when there is none now. Holds a record back for as long as an
    // earlier one of another CPU may still come: until the next drain.
    const TraceRecord* next();

    // Descriptor that poll(2) finds readable when any CPU has a record; -1 when the kernel or
    // another reader of trace_pipe does not allow it (then wait() looks every few milliseconds).
    int wake_fd() const { return wake_.get(); }
    const std::vector<std::string>& damage() const { return merge_->damage(); }
    // Events lost so far, where the kernel said how many; `lost_is_partial` when it did not always.
    std::uint64_t lost() const { return lost_; }
    bool lost_is_partial() const { return lost_is_partial_; }

private:
    using Bytes = std::vector<std::byte>;
    struct Cpu {
        Fd fd;
        std::deque<Bytes> pages;        // read, not walked yet
        Bytes current;                  // being walked
        std::uint64_t complete_to = 0;  // nothing earlier is left in the kernel
        bool is_empty = true;           // the last read found nothing more
        std::string size_file;
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
    std::uint64_t latest_ = 0;   // the latest page start read by the last drain but one
    std::uint64_t reached_ = 0;  // by the last
    std::uint64_t horizon_ = 0;  // records up to here are in order
    bool found_some_ = false, has_more_ = false;  // the last drain
    bool pulls_ = false;                          // next() reads
    std::uint64_t lost_ = 0;
    bool lost_is_partial_ = false;
    std::unique_ptr<RecordMerge> merge_;
};

}  // namespace gpufs
