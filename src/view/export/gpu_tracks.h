#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/trace/by_event_id.h"
#include "view/export/event_plan.h"
#include "view/export/lanes.h"
#include "view/export/timeline.h"

namespace gpufs {

// Draws what drivers tell of a GPU's memory and clock, on tracks of the device: faults, evictions
// and moves of buffers as marks, and as counters how much was moved to each place, how large the
// buffers are, the memory in use and frequencies.
class GpuTracks {
public:
    // Keeps references to both.
    GpuTracks(Tracks& tracks, TimelineWriter& writer) : tracks_(tracks), writer_(writer) {}

    // `arguments`: those of the record's own event. Ignores events that tell nothing of these.
    void draw(const EventPlan& plan, const TraceRecord& record,
              std::span<const Argument> arguments);
    // Buffers that are not counted, because 262,144 others were there.
    std::uint64_t left_out() const noexcept { return left_out_; }

private:
    struct Row;
    // An event's row in the table of those that are known, with its fields.
    struct Known {
        const Row* row = nullptr;           // null: none
        const Field* device = nullptr;      // null: the event does not say which
        std::vector<const Field*> numbers;  // as the row has them
    };
    static const std::vector<Row>& rows();
    static Known find(const EventPlan& plan);

    void draw_move(const Known& known, const TraceRecord& record,
                   std::span<const Argument> arguments);
    void draw_buffer(const Known& known, const TraceRecord& record);
    void draw_memory(const Known& known, const TraceRecord& record);
    void mark(std::uint32_t group, std::string_view lane, std::uint64_t time, std::string_view name,
              std::span<const Argument> arguments);
    void count(std::uint32_t group, const std::string& counter, const char* unit,
               std::uint64_t time, std::uint64_t value);
    std::uint32_t group_of(const Known& known, const TraceRecord& record);
    std::uint32_t gpu(std::string_view device);

    Tracks& tracks_;
    TimelineWriter& writer_;
    ByEventId<Known> known_;
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> lanes_;  // by group and name
    std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> moved_;  // bytes, by place
    std::unordered_map<std::uint64_t, std::uint64_t> buffers_;              // bytes, by address
    std::uint64_t buffer_bytes_ = 0, left_out_ = 0;
};

}  // namespace gpufs
