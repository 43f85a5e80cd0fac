#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/fd.h"
#include "engine/monitor/monitor.h"
#include "engine/results/lost_counters.h"
#include "kernel/bpf/ring_buffer.h"
#include "kernel/perf/ring.h"

namespace gpufs {

// Reads the records that a monitor's programs send: from its ring buffer maps, and from its perf
// event arrays, with one ring per CPU. Keeps a reference to the monitor, which need not be attached
// yet.
class MonitorReader {
public:
    // `stop_fd`: what ends a wait, too; -1: nothing does.
    explicit MonitorReader(const Monitor& monitor, int stop_fd = -1);

    // Whether programs send records at all.
    bool has_rings() const noexcept { return !rings_.empty() || !perf_rings_.empty(); }

    // Sleeps until there is something to read or `stop_fd` is readable, at most `longest`. While
    // records keep coming, waits a millisecond for more, so that each wake-up serves many; not if a
    // ring fills up faster than that.
    void wait(std::chrono::milliseconds longest) const;
    // From now on a readable `fd` ends a wait, too.
    void wake_for(int fd) const;

    // Visits all available records, at most as many as the rings hold. A ring buffer is ordered
    // over all CPUs; perf rings are read one after the other.
    void drain(const VisitRecord& visit);

    // The last drain: afterwards perf rings know all that they lost.
    void drain_rest(const VisitRecord& visit);

    // Losses reported by the kernel. Losses of a ring buffer map are known only to the program.
    LossLedger losses() const;

private:
    template <class Ring>
    void drain_one(Ring& ring, const VisitRecord& visit);

    const Monitor& monitor_;
    std::vector<RingBuffer> rings_;
    struct PerfRings {
        const BpfMap& map;
        std::vector<PerfRing> rings;  // one for each CPU
    };
    std::vector<PerfRings> perf_rings_;
    int stop_fd_;
    Fd epoll_;
    bool is_busy_ = false, is_filling_ = false;  // result of the last drain()
    RecordTaker taker_;
};

}  // namespace gpufs
