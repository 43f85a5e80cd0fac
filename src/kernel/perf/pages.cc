#include "kernel/perf/pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>

#include "kernel/perf/event.h"

namespace gpufs {
namespace {

perf_event_mmap_page& positions(const Mapping& pages) {
    return *reinterpret_cast<perf_event_mmap_page*>(pages.data());
}

}  // namespace

PerfPages::PerfPages(Fd event, std::size_t data_bytes)
    : data_bytes_(data_bytes),
      event_(std::move(event)),
      pages_(event_.get(), page_bytes() + data_bytes, PROT_READ | PROT_WRITE, 0, "a perf ring") {}

void PerfPages::enable() {
    perf_ioctl(event_, PERF_EVENT_IOC_ENABLE, 0, "start a perf ring");
}

// The record as one contiguous span. Records are 8-byte aligned, so a header never wraps; a record
// whose body wraps is copied into scratch_. Only one can wrap until release().
std::span<const std::byte> PerfPages::at(std::uint64_t position) {
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

std::optional<std::span<const std::byte>> PerfPages::next() {
    for (;;) {
        if (taken_ == head_)
            head_ = std::atomic_ref(positions(pages_).data_head).load(std::memory_order_acquire);
        if (taken_ == head_) return std::nullopt;
        const auto record = at(taken_);
        taken_ += record.size();
        if (perf_field<perf_event_header>(record, 0).type != PERF_RECORD_LOST) return record;
        constexpr std::size_t kId = 8;
        lost_ += perf_field<std::uint64_t>(record, sizeof(perf_event_header) + kId);
    }
}

void PerfPages::release() {
    if (released_ == taken_) return;
    std::atomic_ref(positions(pages_).data_tail).store(taken_, std::memory_order_release);
    released_ = taken_;
}

}  // namespace gpufs
