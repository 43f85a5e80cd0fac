#include "gpufs/engine/monitor_reader.h"

#include <sys/epoll.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "gpufs/base/error.h"

namespace gpufs {
namespace {

// Each CPU's share where there is no ring buffer for all.
constexpr std::size_t kPerfRingBytes = 256 << 10;

void watch(int epoll, int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    check(::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event),
          [] { return std::string("wait for a ring"); });
}

}  // namespace

MonitorReader::MonitorReader(const Monitor& monitor, int stop_fd) : program_(monitor.program()) {
    for (const MapDeclaration& map : program_.maps) {
        if (map.type == BPF_MAP_TYPE_RINGBUF) rings_.emplace_back(*monitor.map(map.name));
        if (map.type != BPF_MAP_TYPE_PERF_EVENT_ARRAY) continue;
        for (PerfRing& ring : open_perf_rings(*monitor.map(map.name), kPerfRingBytes))
            perf_rings_.push_back(std::move(ring));
    }
    epoll_ = Fd(check(::epoll_create1(EPOLL_CLOEXEC), [] { return std::string("make an epoll"); }));
    watch(epoll_.get(), stop_fd);
    for (const RingBuffer& ring : rings_) watch(epoll_.get(), ring.fd());
    for (const PerfRing& ring : perf_rings_) watch(epoll_.get(), ring.fd());
}

void MonitorReader::wait(std::chrono::milliseconds longest) const {
    epoll_event ready;
    if (::epoll_wait(epoll_.get(), &ready, 1, static_cast<int>(longest.count())) != -1) return;
    const int code = errno;
    if (code != EINTR) throw SysError(code, "wait for records");
}

void MonitorReader::take(std::span<const std::byte> record, const Visit& visit) {
    std::uint32_t id = 0;
    if (record.size() >= sizeof id) std::memcpy(&id, record.data(), sizeof id);
    if (id == 0 || id > program_.records.size() ||
        record.size() < program_.records[id - 1].layout.bytes) {
        ++unknown_;
        return;
    }
    const RecordLayout& layout = program_.records[id - 1];
    visit(layout, record.first(layout.layout.bytes));
}

void MonitorReader::drain(const Visit& visit) {
    for (RingBuffer& ring : rings_)
        ring.drain([&](std::span<const std::byte> record) { take(record, visit); });
    for (PerfRing& ring : perf_rings_)
        ring.drain([&](const PerfRecord& record) { take(record.payload, visit); });
}

std::uint64_t MonitorReader::lost() const {
    std::uint64_t all = 0;
    for (const PerfRing& ring : perf_rings_) all += ring.lost();
    return all;
}

}  // namespace gpufs
