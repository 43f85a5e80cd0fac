#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gpufs/base/fd.h"
#include "gpufs/kernel/bpf_map.h"
#include "gpufs/kernel/mapping.h"

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
//
// Memory order: the kernel publishes records by storing data_head behind a write barrier, so it is
// loaded with acquire; space goes back by storing data_tail with release, which pairs with the
// control dependency on data_tail in the kernel's perf_output_begin(). A compiler barrier alone is
// a bug on arm64.
class PerfRing {
public:
    // A ring of `data_bytes` (a power of 2, a page at least) that wakes its reader when
    // `wake_up_bytes` are unread; 0: at each record. Throws SysError, UnsupportedError.
    PerfRing(unsigned cpu, std::size_t data_bytes, std::size_t wake_up_bytes = 0);

    unsigned cpu() const noexcept { return cpu_; }
    // Readable when there is enough to wake for.
    int fd() const noexcept { return event_.get(); }

    // The oldest record not yet taken. Records in which the kernel counts what did not fit are
    // taken on the way and added to lost().
    std::optional<PerfRecord> next();
    // Gives the space of all records taken back to the kernel.
    void release();

    template <class OnRecord>
    std::size_t drain(OnRecord&& on_record) {
        std::size_t count = 0;
        while (const auto record = next()) {
            on_record(*record);
            ++count;
            if (taken_ - released_ > data_bytes_ / 8) release();
        }
        release();
        return count;
    }

    std::size_t size() const noexcept { return data_bytes_; }
    // Records that did not fit. The kernel tells with the next record that does.
    std::uint64_t lost() const noexcept { return lost_; }

private:
    std::span<const std::byte> at(std::uint64_t position);

    unsigned cpu_;
    std::size_t data_bytes_;
    Fd event_;
    Mapping pages_;  // one page of positions, then the data
    std::uint64_t taken_ = 0, released_ = 0;
    std::uint64_t head_ = 0;  // as last seen: looked up again only when all of it is taken
    std::uint64_t lost_ = 0;
    std::vector<std::byte> scratch_;
};

// A ring for each online CPU, entered into a perf event array map under the CPU's number.
std::vector<PerfRing> open_perf_rings(const BpfMap& perf_event_array, std::size_t data_bytes,
                                      std::size_t wake_up_bytes = 0);

}  // namespace gpufs
