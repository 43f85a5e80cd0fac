#include "engine/monitor/reader.h"

#include <poll.h>
#include <sys/epoll.h>

#include <cerrno>
#include <string>

#include "base/error.h"

namespace gpufs {
namespace {

// The size of each CPU's ring if there is no common ring buffer.
constexpr std::size_t kPerfRingBytes = 256 << 10;

void watch(int epoll, int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    check(::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event),
          [] { return std::string("wait for a ring"); });
}

std::span<const std::byte> payload_of(std::span<const std::byte> record) {
    return record;
}
std::span<const std::byte> payload_of(const PerfRecord& record) {
    return record.payload;
}

}  // namespace

MonitorReader::MonitorReader(const Monitor& monitor, int stop_fd)
    : monitor_(monitor), stop_fd_(stop_fd) {
    for (const MapDeclaration& map : monitor.program().maps) {
        if (map.type == BPF_MAP_TYPE_RINGBUF) rings_.emplace_back(monitor.bpf_map(map.name));
        if (map.type != BPF_MAP_TYPE_PERF_EVENT_ARRAY) continue;
        const BpfMap& rings = monitor.bpf_map(map.name);
        perf_rings_.push_back({rings, open_perf_rings(rings, kPerfRingBytes)});
    }
    epoll_ = Fd(check(::epoll_create1(EPOLL_CLOEXEC), [] { return std::string("make an epoll"); }));
    if (stop_fd != -1) watch(epoll_.get(), stop_fd);
    for (const RingBuffer& ring : rings_) watch(epoll_.get(), ring.fd());
    for (const PerfRings& of : perf_rings_)
        for (const PerfRing& ring : of.rings) watch(epoll_.get(), ring.fd());
}

void MonitorReader::wait(std::chrono::milliseconds longest) const {
    constexpr std::chrono::milliseconds kGather{1};
    if (is_busy_ && longest > kGather) {
        if (is_filling_) return;
        pollfd stop{stop_fd_, POLLIN, 0};
        ::poll(&stop, 1, static_cast<int>(kGather.count()));
        return;
    }
    epoll_event ready;
    if (::epoll_wait(epoll_.get(), &ready, 1, static_cast<int>(longest.count())) != -1) return;
    const int code = errno;
    if (code != EINTR) throw SysError(code, "wait for records");
}

void MonitorReader::wake_for(int fd) const {
    watch(epoll_.get(), fd);
}

// Reads at most what the ring holds: if programs are faster than the visits, the other rings must
// get their turn.
template <class Ring>
void MonitorReader::drain_one(Ring& ring, const VisitRecord& visit) {
    std::size_t bytes = 0;
    while (bytes < ring.size()) {
        const auto record = ring.next();
        if (!record) break;
        const std::span<const std::byte> payload = payload_of(*record);
        taker_.take(monitor_.program(), payload, visit);
        bytes += payload.size() + BPF_RINGBUF_HDR_SZ;
        ring.release_if_full();
    }
    ring.release();
    is_busy_ = is_busy_ || bytes != 0;
    is_filling_ = is_filling_ || bytes > ring.size() / 4;
}

void MonitorReader::drain(const VisitRecord& visit) {
    is_busy_ = is_filling_ = false;
    for (RingBuffer& ring : rings_) drain_one(ring, visit);
    for (PerfRings& of : perf_rings_)
        for (PerfRing& ring : of.rings) drain_one(ring, visit);
}

void MonitorReader::drain_rest(const VisitRecord& visit) {
    drain(visit);
    for (const PerfRings& of : perf_rings_) send_end_marks(of.map, of.rings);
    drain(visit);
}

LossLedger MonitorReader::losses() const {
    Loss lost;
    for (const PerfRings& of : perf_rings_)
        for (const PerfRing& ring : of.rings) lost += ring.lost();
    LossLedger losses{{"records, a ring was full", lost},
                      {"records of no declared layout", Loss::exactly(taker_.unknown())}};
    losses.add(monitor_.missed());
    return losses;
}

}  // namespace gpufs
