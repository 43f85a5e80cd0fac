#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/recording/file.h"
#include "engine/trace/by_event_id.h"
#include "view/export/event_plan.h"
#include "view/export/fence_tracks.h"
#include "view/export/gpu_tracks.h"
#include "view/export/job_tracks.h"
#include "view/export/jobs.h"
#include "view/export/lanes.h"
#include "view/export/timeline.h"

namespace gpufs {

// For what tells times in nanoseconds: a line where the recording's clock does not. Else empty.
std::string clock_note(TraceFile& file);

// Makes a timeline of a recording. Switches and wakeups of tasks are told as such; each other
// record is one instant: of an interrupt on the track of its CPU, of a display on that of the
// display, all others on that of their task. Jobs of GPUs, fences and waits for them are slices;
// faults and moves of GPUs' memory are marks on tracks of the GPU, too, and what is counted there
// has counters.
//
//   RecordTimeline timeline(file, writer);
//   while (const TraceRecord* record = file.next()) timeline.add(*record);
//   writer.finish();
//
// Memory: some 100 bytes for each task, and for each job and fence under way.
class RecordTimeline {
public:
    // Keeps references to both.
    RecordTimeline(TraceFile& file, TimelineWriter& writer);

    // Records must come in order of time. Returns what the record tells of jobs, good until the
    // next call.
    std::span<const JobStep> add(const TraceRecord& record);
    // The same of a record that is not to be drawn: the jobs that it tells of are.
    std::span<const JobStep> add_unseen(const TraceRecord& record);
    // Of a record before all that is to be drawn: jobs that it tells of, and that have not ended by
    // then, are drawn whole.
    void add_before(const TraceRecord& record);
    // Of one behind it: jobs that are drawn get their end. False when none is without it any more.
    bool add_behind(const TraceRecord& record);
    // Whether the recording has events that tell of jobs.
    bool has_jobs() const noexcept { return jobs_ != nullptr; }
    // What is not in the timeline, a line each.
    std::vector<std::string> notes() const;

private:
    using Kind = EventPlan::Kind;

    void begin(const TraceRecord& record);
    std::span<const JobStep> steps_of(const TraceRecord& record);
    void tell_loss(const TraceRecord& record);
    void switch_task(const EventPlan& plan, const TraceRecord& record);
    void wake(const EventPlan& plan, const TraceRecord& record, const CommonFields& common);
    void add_instant(const EventPlan& plan, const TraceRecord& record, const CommonFields& common,
                     std::span<const JobStep> steps);
    std::uint32_t track_of(const EventPlan& plan, const TraceRecord& record,
                           const CommonFields& common);
    std::uint32_t task_track(int tid);
    std::uint32_t cpu_track(int cpu);
    std::uint32_t display_track(std::int64_t crtc);

    TraceFile& file_;
    TimelineWriter& writer_;
    Tracks tracks_;
    EventArguments arguments_;
    std::unique_ptr<RecordedJobs> jobs_;  // null: there are none
    JobTracks job_tracks_;
    FenceTracks fence_tracks_;
    GpuTracks gpu_tracks_;
    ByEventId<EventPlan> plans_;
    std::unordered_map<int, std::uint32_t> tasks_;  // tracks, by thread
    std::map<std::int64_t, std::uint32_t> cpus_, displays_;
    std::unordered_map<int, std::uint64_t> last_of_cpu_;  // the time of its last record
    bool has_begun_ = false, sees_waking_ = false;
};

}  // namespace gpufs
