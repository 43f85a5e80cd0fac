#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>

#include "view/export/event_plan.h"
#include "view/export/lanes.h"
#include "view/export/timeline.h"

namespace gpufs {

// Draws fences (dma_fence): from their begin until they are signalled, on tracks of their driver
// and timeline; and who waits for one, on the task's own track.
class FenceTracks {
public:
    // Keeps references to both.
    FenceTracks(Tracks& tracks, TimelineWriter& writer) : tracks_(tracks), writer_(writer) {}

    // `task`: the track of the task that made the record. Ignores other kinds of events.
    void draw(const EventPlan& plan, const TraceRecord& record, std::uint32_t task);
    // Fences that were not drawn, because 65,536 others were under way.
    std::uint64_t left_out() const noexcept { return left_out_; }

private:
    using Key = std::pair<std::uint64_t, std::uint64_t>;  // context and number
    struct Open {
        Lanes* lanes = nullptr;
        std::uint32_t track = 0;
    };
    using Fences = std::map<Key, Open>;

    void begin(const EventPlan& plan, const TraceRecord& record);
    void end(Fences::iterator fence, std::uint64_t time, std::string_view how);
    void begin_wait(const EventPlan& plan, const TraceRecord& record, std::uint32_t task);
    void end_wait(std::uint32_t task, std::uint64_t time);
    Lanes& lanes_of(std::string_view driver, std::string_view timeline);

    Tracks& tracks_;
    TimelineWriter& writer_;
    std::map<std::string, Lanes, std::less<>> lanes_;  // by driver and timeline
    Fences open_;
    std::unordered_set<std::uint32_t> waits_;  // tracks of tasks
    std::uint64_t left_out_ = 0;
};

}  // namespace gpufs
