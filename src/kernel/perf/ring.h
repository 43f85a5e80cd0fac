#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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
    PerfRing(unsigned cpu, std::size_t data_bytes, std::size_t wake_up_bytes = 0);

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
    // Records that did not fit. The kernel reports them before the next record that fits.
    std::uint64_t lost() const noexcept { return pages_.lost(); }

private:
    unsigned cpu_;
    PerfPages pages_;
};

// Opens a ring on each online CPU and stores it in a perf event array map, with the CPU as key.
std::vector<PerfRing> open_perf_rings(const BpfMap& perf_event_array, std::size_t data_bytes,
                                      std::size_t wake_up_bytes = 0);

}  // namespace gpufs
