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
    // What the program sent, and up to 7 bytes behind it: the kernel rounds up, and tells not how
    // much. Good until the ring's next release().
    std::span<const std::byte> payload;
};

// One CPU's ring of perf records: how programs send data where there is no BPF ring buffer (before
// Linux 5.8). Its order is the CPU's; merging CPUs by time is the reader's matter.
class PerfRing {
public:
    // A ring of `data_bytes` (a power of 2, a page at least) that wakes its reader when
    // `wake_up_bytes` are unread; 0: at each record. Throws SysError, UnsupportedError.
    PerfRing(unsigned cpu, std::size_t data_bytes, std::size_t wake_up_bytes = 0);

    unsigned cpu() const noexcept { return cpu_; }
    // Readable when there is enough to wake for.
    int fd() const noexcept { return pages_.fd(); }

    // The oldest record not yet taken.
    std::optional<PerfRecord> next();
    // Gives the space of all records taken back to the kernel.
    void release() { pages_.release(); }

    void release_if_full() { pages_.release_if_full(); }
    // All of them.
    template <class OnRecord>
    std::size_t drain(OnRecord&& on_record) {
        return drain_ring(*this, on_record);
    }

    std::size_t size() const noexcept { return pages_.size(); }
    // Records that did not fit. The kernel tells with the next record that does.
    std::uint64_t lost() const noexcept { return pages_.lost(); }

private:
    unsigned cpu_;
    PerfPages pages_;
};

// A ring for each online CPU, entered into a perf event array map under the CPU's number.
std::vector<PerfRing> open_perf_rings(const BpfMap& perf_event_array, std::size_t data_bytes,
                                      std::size_t wake_up_bytes = 0);

}  // namespace gpufs
