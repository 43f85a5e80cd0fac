#include "view/export/gpu_tracks.h"

#include <algorithm>
#include <array>

#include "base/cat.h"

namespace gpufs {
namespace {

// TTM's numbers, and those that amdgpu adds (amdgpu_ttm.h).
constexpr std::array<std::string_view, 8> kPlaces = {"system", "GTT", "VRAM",    "GDS",
                                                     "GWS",    "OA",  "preempt", "doorbell"};

// A place is a name or a number.
std::string place_of(const Field& field, RecordBytes record) {
    if (field.holds_text()) return std::string(text_of(field, record));
    const std::uint64_t number = integer_of(field, record);
    return number < kPlaces.size() ? std::string(kPlaces[number]) : cat("place ", number);
}

// An interrupt of the memory hubs' or the shader caches' translation (soc15_ih_clientid.h: VMC,
// VMC1 and UTCL2), whose source 0 is a fault of a process's address space; before Vega, without
// clients, the sources are 146 and 147 (ivsrcid_vislands30.h). lib/amdgpu-irq.bpf has the same, as
// a test sees.
bool is_amd_fault(std::span<const Field* const> fields, RecordBytes record) {
    constexpr std::uint64_t kVmc = 0x12, kVmc1 = 0x06, kUtcl2 = 0x1b;
    const std::uint64_t client = integer_of(*fields[0], record),
                        source = integer_of(*fields[1], record);
    if (client == 0) return source == 146 || source == 147;
    return source == 0 && (client == kVmc || client == kVmc1 || client == kUtcl2);
}

}  // namespace

struct GpuTracks::Row {
    enum class What {
        mark,
        amd_interrupt,
        xid,
        move,
        create,
        destroy,
        memory,
        gpu_clock,
        cpu_clock
    };
    std::string_view event;
    What what;
    std::string_view device;  // the field; empty: none tells it
    std::vector<std::string_view> numbers;
    std::string_view lane, name;  // of a mark; of a clock `name` is its unit
};

// include/trace/events/{gpu_mem,power,power_gpu_frequency}.h; i915_trace.h, amdgpu_trace.h,
// xe_trace.h, xe_trace_bo.h; nvidia's nv-tracepoint.h.
const std::vector<GpuTracks::Row>& GpuTracks::rows() {
    using What = Row::What;
    constexpr std::string_view kFaults = "VM faults", kCpuFaults = "CPU faults",
                               kEvictions = "evictions";
    static const std::vector<Row> kRows = {
        {"amdgpu:amdgpu_iv", What::amd_interrupt, "", {"client_id", "src_id"}, kFaults, "fault"},
        {"xe:xe_vma_pagefault", What::mark, "dev", {}, kFaults, "page fault"},
        {"xe:xe_exec_queue_memory_cat_error", What::mark, "dev", {}, kFaults, "memory error"},
        {"xe:xe_bo_cpu_fault", What::mark, "dev", {}, kCpuFaults, "fault"},
        {"i915:i915_gem_object_fault", What::mark, "", {}, kCpuFaults, "fault"},
        {"nvidia:nvidia_dev_xid", What::xid, "dev", {"error_code"}, "errors", "Xid"},
        {"xe:xe_vma_evict", What::mark, "dev", {}, kEvictions, "evict"},
        {"i915:i915_gem_evict", What::mark, "dev", {}, kEvictions, "evict"},
        {"i915:i915_gem_evict_node", What::mark, "dev", {}, kEvictions, "evict a range"},
        {"i915:i915_gem_evict_vm", What::mark, "dev", {}, kEvictions, "evict all"},
        {"i915:i915_gem_shrink", What::mark, "dev", {}, kEvictions, "shrink"},
        {"amdgpu:amdgpu_bo_move",
         What::move,
         "",
         {"old_placement", "new_placement", "bo_size"},
         "moves",
         ""},
        {"xe:xe_bo_move",
         What::move,
         "device_id",
         {"old_placement_name", "new_placement_name", "size"},
         "moves",
         ""},
        {"i915:i915_gem_object_create", What::create, "", {"obj", "size"}, "", ""},
        {"i915:i915_gem_object_destroy", What::destroy, "", {"obj"}, "", ""},
        {"gpu_mem:gpu_mem_total", What::memory, "", {"gpu_id", "pid", "size"}, "", ""},
        {"power:gpu_frequency", What::gpu_clock, "", {"gpu_id", "state"}, "", "kHz"},
        {"i915:intel_gpu_freq_change", What::gpu_clock, "", {"freq"}, "", "MHz"},
        {"power:cpu_frequency", What::cpu_clock, "", {"cpu_id", "state"}, "", "kHz"},
    };
    return kRows;
}

GpuTracks::Known GpuTracks::find(const EventPlan& plan) {
    Known known;
    const auto row = std::ranges::find(rows(), plan.full_name, &Row::event);
    if (!plan.event || row == rows().end()) return known;
    const EventFormat& format = plan.event->format;
    if (!row->device.empty()) known.device = format.find(row->device);
    known.numbers = format.find_all(row->numbers);
    if (known.numbers.size() == row->numbers.size()) known.row = &*row;
    return known;
}

std::uint32_t GpuTracks::gpu(std::string_view device) {
    return tracks_.group(device.empty() ? std::string("GPU") : cat("GPU ", device));
}

std::uint32_t GpuTracks::group_of(const Known& known, const TraceRecord& record) {
    if (!known.device) return gpu({});
    if (known.device->holds_text()) return gpu(text_of(*known.device, record.bytes));
    return gpu(cat(integer_of(*known.device, record.bytes)));
}

void GpuTracks::mark(std::uint32_t group, std::string_view lane, std::uint64_t time,
                     std::string_view name, std::span<const Argument> arguments) {
    std::uint32_t& track = lanes_[{group, std::string(lane)}];
    if (track == 0) {
        Track made;
        made.parent = group;
        made.name = lane;
        track = tracks_.add(std::move(made));
    }
    writer_.instant({track, time, name, kGpuCategory, arguments});
}

void GpuTracks::count(std::uint32_t group, const std::string& counter, const char* unit,
                      std::uint64_t time, std::uint64_t value) {
    std::uint32_t& track = lanes_[{group, counter}];
    if (track == 0) {
        Track made;
        made.kind = Track::Kind::counter;
        made.parent = group;
        made.name = counter;
        made.unit = unit;
        track = tracks_.add(std::move(made));
    }
    writer_.count(track, time, static_cast<std::int64_t>(value));
}

void GpuTracks::draw_move(const Known& known, const TraceRecord& record,
                          std::span<const Argument> arguments) {
    const std::uint32_t group = group_of(known, record);
    const std::string to = place_of(*known.numbers[1], record.bytes);
    mark(group, known.row->lane, record.timestamp,
         cat(place_of(*known.numbers[0], record.bytes), " to ", to), arguments);
    std::uint64_t& bytes = moved_[{group, to}];
    bytes += integer_of(*known.numbers[2], record.bytes);
    count(group, cat("moved to ", to), "bytes", record.timestamp, bytes);
}

// Of the buffers whose begin is recorded.
void GpuTracks::draw_buffer(const Known& known, const TraceRecord& record) {
    constexpr std::size_t kMost = 1 << 18;
    const std::uint64_t buffer = integer_of(*known.numbers[0], record.bytes);
    if (known.row->what == Row::What::create) {
        if (buffers_.size() == kMost && !buffers_.contains(buffer)) {
            ++left_out_;
            return;
        }
        const std::uint64_t bytes = integer_of(*known.numbers[1], record.bytes);
        std::uint64_t& known_bytes = buffers_[buffer];
        buffer_bytes_ += bytes - known_bytes;
        known_bytes = bytes;
    } else {
        const auto it = buffers_.find(buffer);
        if (it == buffers_.end()) return;
        buffer_bytes_ -= it->second;
        buffers_.erase(it);
    }
    count(group_of(known, record), "buffers", "bytes", record.timestamp, buffer_bytes_);
}

// Process 0 is the whole device.
void GpuTracks::draw_memory(const Known& known, const TraceRecord& record) {
    const auto number = [&](std::size_t i) { return integer_of(*known.numbers[i], record.bytes); };
    const std::uint32_t group = gpu(cat(number(0)));
    const std::string of = number(1) == 0 ? "memory" : cat("memory of process ", number(1));
    count(group, of, "bytes", record.timestamp, number(2));
}

void GpuTracks::draw(const EventPlan& plan, const TraceRecord& record,
                     std::span<const Argument> arguments) {
    using What = Row::What;
    const Known& known = known_.get(record.id(), [&](int) { return find(plan); });
    if (!known.row) return;
    const Row& row = *known.row;
    const auto number = [&](std::size_t i) { return integer_of(*known.numbers[i], record.bytes); };
    switch (row.what) {
        case What::amd_interrupt:
            if (!is_amd_fault(known.numbers, record.bytes)) return;
            [[fallthrough]];
        case What::mark:
            return mark(group_of(known, record), row.lane, record.timestamp, row.name, arguments);
        case What::xid:
            return mark(group_of(known, record), row.lane, record.timestamp,
                        cat(row.name, ' ', number(0)), arguments);
        case What::move:
            return draw_move(known, record, arguments);
        case What::create:
        case What::destroy:
            return draw_buffer(known, record);
        case What::memory:
            return draw_memory(known, record);
        case What::gpu_clock: {
            const bool has_id = known.numbers.size() == 2;
            return count(has_id ? gpu(cat(number(0))) : group_of(known, record), "frequency",
                         row.name.data(), record.timestamp, number(has_id ? 1 : 0));
        }
        case What::cpu_clock:
            return count(tracks_.group("CPUs"), cat("frequency of CPU ", number(0)),
                         row.name.data(), record.timestamp, number(1));
    }
}

}  // namespace gpufs
