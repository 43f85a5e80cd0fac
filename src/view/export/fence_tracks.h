#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>

#include "view/export/event_plan.h"
#include "view/export/lanes.h"
#include "view/export/open_jobs.h"
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

private:
    using Key = std::pair<std::uint64_t, std::uint64_t>;  // context and number
    struct Open {
        Lanes* lanes = nullptr;
        std::uint32_t track = 0;
    };

    void begin(const EventPlan& plan, const TraceRecord& record);
    void end(const Open& fence, std::uint64_t time, std::string_view how);
    void begin_wait(const EventPlan& plan, const TraceRecord& record, std::uint32_t task);
    void end_wait(std::uint32_t task, std::uint64_t time);
    Lanes& lanes_of(std::string_view driver, std::string_view timeline);

    Tracks& tracks_;
    TimelineWriter& writer_;
    std::map<std::string, Lanes, std::less<>> lanes_;  // by driver and timeline
    OpenJobs<Open, Key> open_;
    std::unordered_set<std::uint32_t> waits_;  // tracks of tasks
};

}  // namespace gpufs
