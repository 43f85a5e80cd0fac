#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/fd.h"
#include "engine/monitor/monitor.h"
#include "engine/results/losses.h"
#include "kernel/bpf/ring_buffer.h"
#include "kernel/perf/ring.h"

namespace gpufs {

// Reads what a monitor's programs send through its rings: its ring buffer maps, and its perf event
// arrays, one ring a CPU. Borrows the monitor, which need not be attached yet.
class MonitorReader {
public:
    // `stop_fd`: what ends a wait, too; -1: nothing does.
    explicit MonitorReader(const Monitor& monitor, int stop_fd = -1);

    // Sleeps until there is something to read or `stop_fd` is readable, at most so long. While
    // records keep coming, they gather for a millisecond first, so that each wake-up serves many;
    // not while a ring fills up faster than that.
    void wait(std::chrono::milliseconds longest) const;

    // Visits each record there is, at most as many as the rings hold. A ring buffer has one order
    // for all CPUs; perf rings come one behind the other.
    void drain(const VisitRecord& visit);

    // What did not arrive, as the kernel says: of a ring buffer map only the program knows.
    std::vector<Loss> losses() const;

private:
    void take(std::span<const std::byte> record, const VisitRecord& visit);
    template <class Ring>
    void drain_one(Ring& ring, const VisitRecord& visit);

    const Monitor& monitor_;
    std::vector<RingBuffer> rings_;
    std::vector<PerfRing> perf_rings_;
    int stop_fd_;
    Fd epoll_;
    bool is_busy_ = false, is_filling_ = false;  // as the last drain() found it
    std::uint64_t unknown_ = 0;                  // records of no layout
};

}  // namespace gpufs
