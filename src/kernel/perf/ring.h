#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/loss.h"
#include "kernel/bpf/drain_ring.h"
#include "kernel/bpf/map.h"
#include "kernel/perf/pages.h"

namespace gpufs {

// A record that a program sent with bpf_perf_event_output().
struct PerfRecord {
    std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC, as bpf_ktime_get_ns()
    // The data that the program sent, plus up to 7 bytes of padding: the kernel rounds up without
    // telling by how much. Valid until the ring's next release().
    std::span<const std::byte> payload;
};

// One CPU's ring of perf records, for programs that cannot use a BPF ring buffer (before Linux
// 5.8). Ordered within the CPU only; the reader merges CPUs by time.
class PerfRing {
public:
    // `data_bytes`: a power of 2, at least a page. The ring wakes its reader when `wake_up_bytes`
    // are unread; 0: at each record. Throws SysError, UnsupportedError.
    // `way`: how to learn of losses; `best` is `count` if this kernel can.
    enum class Way { best, count, marks };
    PerfRing(unsigned cpu, std::size_t data_bytes, std::size_t wake_up_bytes = 0,
             Way way = Way::best);

    unsigned cpu() const noexcept { return cpu_; }
    // Readable when the wake-up threshold is reached.
    int fd() const noexcept { return pages_.fd(); }

    // The oldest record not yet taken.
    std::optional<PerfRecord> next();
    // Gives the space of all taken records back to the kernel.
    void release() { pages_.release(); }

    void release_if_full() { pages_.release_if_full(); }
    // Passes all records to `on_record`; returns their number.
    template <class OnRecord>
    std::size_t drain(OnRecord&& on_record) {
        return drain_ring(*this, on_record);
    }

    std::size_t size() const noexcept { return pages_.size(); }
    // Records that did not fit. Linux 6.0 counts them; before that the kernel tells them in front
    // of the next record that fits, so that there may be more until next() has met an end mark.
    // Throws SysError.
    Loss lost() const;
    // Whether lost() needs an end mark: a record on this ring's CPU that next() skips.
    bool needs_end_mark() const noexcept { return !is_counted_ && !is_marked_; }

private:
    unsigned cpu_;
    bool is_counted_ = false;  // read(2) of the event gives the number of lost records
    bool is_marked_ = false;   // the last record taken was an end mark
    PerfPages pages_;
};

// Sends an end mark to each ring of a perf event array map that needs one. Call it when all records
// are taken and given back. Does nothing if this kernel has no way (before Linux 5.10).
void send_end_marks(const BpfMap& perf_event_array, std::span<const PerfRing> rings);

// Opens a ring on each online CPU and stores it in a perf event array map, with the CPU as key.
std::vector<PerfRing> open_perf_rings(const BpfMap& perf_event_array, std::size_t data_bytes,
                                      std::size_t wake_up_bytes = 0);

}  // namespace gpufs
