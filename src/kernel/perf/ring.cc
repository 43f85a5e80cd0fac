#include "kernel/perf/ring.h"

#include <linux/perf_event.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>

#include "base/bytes.h"
#include "base/error.h"
#include "base/kernel_abi.h"
#include "kernel/bpf/op.h"
#include "kernel/bpf/program.h"
#include "kernel/bpf/test_run.h"
#include "kernel/host/cpus.h"
#include "kernel/perf/event.h"

namespace gpufs {
namespace {

constexpr std::uint32_t kEndMark = 0;  // no record has this id

perf_event_attr output_attr(std::size_t wake_up_bytes) {
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
    return attr;
}

Fd open_output(unsigned cpu, std::size_t wake_up_bytes, std::uint64_t read_format) {
    perf_event_attr attr = output_attr(wake_up_bytes);
    attr.read_format = read_format;
    return open_perf_event(attr, -1, static_cast<int>(cpu), cat("open a perf ring on CPU ", cpu));
}

// Sets `is_counted` if read(2) of the event gives the number of lost records.
Fd open_output(unsigned cpu, std::size_t wake_up_bytes, PerfRing::Way way, bool& is_counted) {
    is_counted = way != PerfRing::Way::marks;
    if (!is_counted) return open_output(cpu, wake_up_bytes, 0);
    try {
        return open_output(cpu, wake_up_bytes, kPerfFormatLost);
    } catch (const SysError& e) {
        if (e.code() != EINVAL || way == PerfRing::Way::count) throw;
    }
    is_counted = false;
    return open_output(cpu, wake_up_bytes, 0);
}

// A program that sends an end mark to the ring of the CPU that it runs on.
Fd load_marker(const BpfMap& rings) {
    const bpf_insn insns[] = {
        op::store_value(BPF_W, 10, -4, kEndMark),
        op::make(BPF_LD | BPF_IMM | BPF_DW, 2, BPF_PSEUDO_MAP_FD, 0, rings.fd()),
        op::make(0, 0, 0, 0, 0),
        op::make(BPF_ALU | BPF_MOV | BPF_K, 3, 0, 0, -1),  // BPF_F_CURRENT_CPU
        op::copy(4, 10),
        op::add(4, -4),
        op::mov(5, sizeof kEndMark),
        op::call(BPF_FUNC_perf_event_output),
        op::mov(0, 0),
        op::leave(),
    };
    BpfProgramSpec spec;
    spec.type = BPF_PROG_TYPE_RAW_TRACEPOINT;
    spec.name = "end_mark";
    spec.insns = insns;
    return load_program(spec);
}

}  // namespace

PerfRing::PerfRing(unsigned cpu, std::size_t data_bytes, std::size_t wake_up_bytes, Way way)
    : cpu_(cpu), pages_(open_output(cpu, wake_up_bytes, way, is_counted_), data_bytes) {
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
        is_marked_ =
            length == sizeof kEndMark && perf_field<std::uint32_t>(*record, kPayload) == kEndMark;
        if (!is_marked_) return PerfRecord{time, record->subspan(kPayload, length)};
    }
    return std::nullopt;
}

Loss PerfRing::lost() const {
    if (!is_counted_)
        return is_marked_ ? Loss::exactly(pages_.lost()) : Loss::at_least(pages_.lost());
    std::array<std::uint64_t, 2> value_and_lost{};
    check(::read(fd(), value_and_lost.data(), sizeof value_and_lost),
          [this] { return cat("read the count of lost records of CPU ", cpu_); });
    return Loss::exactly(value_and_lost[1]);
}

void send_end_marks(const BpfMap& perf_event_array, std::span<const PerfRing> rings) {
    std::optional<Fd> marker;
    for (const PerfRing& ring : rings) {
        if (!ring.needs_end_mark()) continue;
        try {
            if (!marker) marker = load_marker(perf_event_array);
            TestRun run;
            run.cpu = ring.cpu();
            test_run(marker->get(), run);
        } catch (const UnsupportedError&) {
            return;
        } catch (const SysError& e) {
            if (e.code() != ENXIO) throw;  // the CPU went offline
        }
    }
}

std::vector<PerfRing> open_perf_rings(const BpfMap& perf_event_array, std::size_t data_bytes,
                                      std::size_t wake_up_bytes) {
    std::vector<PerfRing> rings;
    for (const unsigned cpu : online_cpus()) {
        rings.emplace_back(cpu, data_bytes, wake_up_bytes);
        const int fd = rings.back().fd();
        perf_event_array.update(bytes_of(cpu), bytes_of(fd));
    }
    return rings;
}

}  // namespace gpufs
