#include "gpufs/kernel/perf_ring.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>

#include "gpufs/base/error.h"
#include "gpufs/kernel/cpus.h"
#include "gpufs/kernel/perf_event.h"

namespace gpufs {
namespace {

Fd open_output(unsigned cpu, std::size_t wake_up_bytes) {
    perf_event_attr attr = perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
    attr.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
    attr.sample_period = 1;
    attr.use_clockid = 1;
    attr.clockid = CLOCK_MONOTONIC;
    if (wake_up_bytes) {
        attr.watermark = 1;
        attr.wakeup_watermark = static_cast<std::uint32_t>(wake_up_bytes);
    } else {
        attr.wakeup_events = 1;
    }
    return open_perf_event(attr, -1, static_cast<int>(cpu), cat("open a perf ring on CPU ", cpu));
}

perf_event_mmap_page& positions(const Mapping& pages) {
    return *reinterpret_cast<perf_event_mmap_page*>(pages.data());
}

// `offset` bytes into a record. What does not fit the record is a damaged ring.
template <class T>
T read_at(std::span<const std::byte> record, std::size_t offset) {
    if (record.size() < offset + sizeof(T)) throw Error("a perf ring is damaged: record too short");
    T value;
    std::memcpy(&value, record.data() + offset, sizeof value);
    return value;
}

}  // namespace

PerfRing::PerfRing(unsigned cpu, std::size_t data_bytes, std::size_t wake_up_bytes)
    : cpu_(cpu),
      data_bytes_(data_bytes),
      event_(open_output(cpu, wake_up_bytes)),
      pages_(event_.get(), page_bytes() + data_bytes, PROT_READ | PROT_WRITE, 0, "a perf ring") {
    perf_ioctl(event_, PERF_EVENT_IOC_ENABLE, 0, "start a perf ring");
}

// The record as one contiguous span. Records are 8-byte aligned, so a header never wraps; the body
// of the one that does is put together in scratch_. Until release() no second one can.
std::span<const std::byte> PerfRing::at(std::uint64_t position) {
    const std::span ring(pages_.data() + page_bytes(), data_bytes_);
    const std::size_t start = position & (data_bytes_ - 1);
    perf_event_header header;
    std::memcpy(&header, &ring[start], sizeof header);
    if (header.size < sizeof header) throw Error("a perf ring is damaged: record of size 0");
    const std::size_t until_end = std::min<std::size_t>(header.size, ring.size() - start);
    if (until_end == header.size) return ring.subspan(start, header.size);
    scratch_.assign(ring.begin() + static_cast<std::ptrdiff_t>(start), ring.end());
    scratch_.insert(scratch_.end(), ring.data(), ring.data() + (header.size - until_end));
    return scratch_;
}

std::optional<PerfRecord> PerfRing::next() {
    for (;;) {
        if (taken_ == head_)
            head_ = std::atomic_ref(positions(pages_).data_head).load(std::memory_order_acquire);
        if (taken_ == head_) return std::nullopt;
        const auto record = at(taken_);
        taken_ += record.size();
        const auto header = read_at<perf_event_header>(record, 0);
        const std::size_t body = sizeof header;
        if (header.type == PERF_RECORD_LOST) {
            lost_ += read_at<std::uint64_t>(record, body + 8);  // behind the event's id
        } else if (header.type == PERF_RECORD_SAMPLE) {
            const auto time = read_at<std::uint64_t>(record, body);
            const auto length = read_at<std::uint32_t>(record, body + 8);
            constexpr std::size_t kPayload = sizeof header + 8 + 4;
            if (record.size() < kPayload + length)
                throw Error("a perf ring is damaged: record too short");
            return PerfRecord{time, record.subspan(kPayload, length)};
        }
    }
}

void PerfRing::release() {
    if (released_ == taken_) return;
    std::atomic_ref(positions(pages_).data_tail).store(taken_, std::memory_order_release);
    released_ = taken_;
}

std::vector<PerfRing> open_perf_rings(const BpfMap& perf_event_array, std::size_t data_bytes,
                                      std::size_t wake_up_bytes) {
    std::vector<PerfRing> rings;
    for (const unsigned cpu : online_cpus()) {
        rings.emplace_back(cpu, data_bytes, wake_up_bytes);
        const int fd = rings.back().fd();
        perf_event_array.update(std::as_bytes(std::span(&cpu, 1)),
                                std::as_bytes(std::span(&fd, 1)));
    }
    return rings;
}

}  // namespace gpufs
