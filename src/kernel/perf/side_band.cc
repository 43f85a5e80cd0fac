#include "kernel/perf/side_band.h"

#include <sys/sysmacros.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "base/bytes.h"
#include "base/sorted.h"
#include "kernel/host/cpus.h"
#include "kernel/perf/event.h"

namespace gpufs {
namespace {

using Kind = SideBandRecord::Kind;

Fd open_dummy(unsigned cpu, std::size_t wakeup_bytes) {
    perf_event_attr attr = perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
    attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 1;
    attr.disabled = 1;
    attr.exclude_kernel = 1;  // needs less privilege if perf_event_paranoid is strict
    attr.sample_id_all = 1;
    attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
    attr.use_clockid = 1;
    attr.clockid = CLOCK_MONOTONIC;
    attr.watermark = 1;
    attr.wakeup_watermark = static_cast<std::uint32_t>(wakeup_bytes);
    return open_perf_event(attr, -1, static_cast<int>(cpu), "watch what processes map");
}

// Offsets as in perf_event_open(2): the body follows the header, and sample_id_all appends {pid,
// tid, time} to every record.
constexpr std::size_t kBody = sizeof(perf_event_header), kId = 16;

std::string_view text_at(std::span<const std::byte> record, std::size_t offset) {
    if (record.size() < offset + kId) return {};
    return up_to_nul(record.subspan(offset, record.size() - offset - kId));
}

std::optional<SideBandRecord> parse(std::span<const std::byte> bytes) {
    if (bytes.size() < kBody + kId) return std::nullopt;
    const auto word = [&](std::size_t at) { return perf_field<std::uint32_t>(bytes, kBody + at); };
    const auto wide = [&](std::size_t at) { return perf_field<std::uint64_t>(bytes, kBody + at); };
    const auto header = perf_field<perf_event_header>(bytes, 0);
    SideBandRecord record;
    record.time_ns = perf_field<std::uint64_t>(bytes, bytes.size() - sizeof(std::uint64_t));
    record.pid = word(0);
    record.tid = word(4);
    switch (header.type) {
        case PERF_RECORD_MMAP2:
            record.kind = Kind::map;
            record.start = wide(8);
            record.end = record.start + wide(16);
            record.offset = wide(24);
            record.device = makedev(word(32), word(36));
            record.inode = wide(40);
            record.generation = wide(48);
            // Protection and flags are in between.
            record.text = text_at(bytes, kBody + 64);
            return record;
        case PERF_RECORD_COMM:
            record.kind = header.misc & PERF_RECORD_MISC_COMM_EXEC ? Kind::exec : Kind::comm;
            record.text = text_at(bytes, kBody + 8);
            return record;
        case PERF_RECORD_FORK:
        case PERF_RECORD_EXIT:  // pid, parent's pid, tid, parent's tid
            record.kind = header.type == PERF_RECORD_FORK ? Kind::fork : Kind::exit;
            record.parent = word(4);
            record.tid = word(8);
            return record;
    }
    return std::nullopt;
}

}  // namespace

SideBand::SideBand(Wakes wakes, std::size_t data_bytes) {
    const std::size_t wakeup_bytes = wakes == Wakes::at_once ? 1 : data_bytes / 2;
    for (const unsigned cpu : online_cpus())
        rings_.emplace_back(open_dummy(cpu, wakeup_bytes), data_bytes);
    for (PerfPages& ring : rings_) ring.enable();
}

std::vector<int> SideBand::fds() const {
    std::vector<int> fds;
    for (const PerfPages& ring : rings_) fds.push_back(ring.fd());
    return fds;
}

void SideBand::drain(const std::function<void(const SideBandRecord&)>& visit) {
    // The records of a process that moves between CPUs are in several rings. All records are copied
    // before they are sorted; the rings are small.
    std::vector<std::byte> bytes;
    struct Place {
        std::uint64_t time_ns;
        std::size_t begin, size;
    };
    std::vector<Place> places;
    for (PerfPages& ring : rings_) {
        while (const auto record = ring.next()) {
            if (const auto parsed = parse(*record)) {
                places.push_back({parsed->time_ns, bytes.size(), record->size()});
                bytes.insert(bytes.end(), record->begin(), record->end());
            }
            ring.release_if_full();
        }
        ring.release();
    }
    sort_stably(places, {}, &Place::time_ns);
    for (const Place& place : places)
        if (const auto record = parse(std::span(bytes).subspan(place.begin, place.size)))
            visit(*record);
}

std::uint64_t SideBand::lost() const {
    std::uint64_t lost = 0;
    for (const PerfPages& ring : rings_) lost += ring.lost();
    return lost;
}

}  // namespace gpufs
