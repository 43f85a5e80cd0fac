#include "kernel/perf/ring.h"

#include <linux/perf_event.h>

#include <ctime>

#include "base/error.h"
#include "kernel/host/cpus.h"
#include "kernel/perf/event.h"

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

}  // namespace

PerfRing::PerfRing(unsigned cpu, std::size_t data_bytes, std::size_t wake_up_bytes)
    : cpu_(cpu), pages_(open_output(cpu, wake_up_bytes), data_bytes) {
    pages_.enable();
}

std::optional<PerfRecord> PerfRing::next() {
    while (const auto record = pages_.next()) {
        constexpr std::size_t kBody = sizeof(perf_event_header), kPayload = kBody + 8 + 4;
        if (perf_field<perf_event_header>(*record, 0).type != PERF_RECORD_SAMPLE) continue;
        const auto time = perf_field<std::uint64_t>(*record, kBody);
        const auto length = perf_field<std::uint32_t>(*record, kBody + 8);
        if (record->size() < kPayload + length)
            throw Error("a perf ring is damaged: record too short");
        return PerfRecord{time, record->subspan(kPayload, length)};
    }
    return std::nullopt;
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
