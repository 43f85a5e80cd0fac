#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "view/export/jobs.h"
#include "view/export/lanes.h"
#include "view/export/open_jobs.h"
#include "view/export/timeline.h"

namespace gpufs {

// Draws the jobs of GPUs: for each device and ring tracks for the time in the queue and for that on
// the ring, and how many jobs there are in both. An arrow leads from the event of the submission
// through both to the event of the end.
class JobTracks {
public:
    // Keeps references to both.
    JobTracks(Tracks& tracks, TimelineWriter& writer) : tracks_(tracks), writer_(writer) {}

    // An arrow that the event belongs to which told of a step.
    struct Arrow {
        std::uint64_t flow = 0;  // 0: none
        bool is_end = false;
    };
    // Where its event is an arrow's begin, draw() comes behind the event.
    static bool begins_arrow(const JobStep& step) { return step.what == JobStep::What::queue; }
    // The arrow of the next job to be drawn.
    Arrow next_arrow() const { return {last_flow_ + 1, false}; }
    Arrow draw(const JobStep& step, std::uint64_t time);

    // Of what comes before all that is drawn: keeps the steps of jobs that have not ended.
    void keep(const JobStep& step, std::uint64_t time);
    // When the first of them came; absent where there are none.
    std::optional<std::uint64_t> first_kept() const;
    // Draws them, without arrows: the events of their submissions are not drawn.
    void draw_kept();
    // Of what comes behind: only jobs that were begun are drawn on.
    void draw_on(const JobStep& step, std::uint64_t time);
    bool has_open_jobs() const { return !jobs_.empty(); }

private:
    using Steps = std::vector<std::pair<std::uint64_t, JobStep>>;  // with their times

    struct Ring {
        Ring(Tracks& tracks, std::uint32_t group);
        Lanes queue, run;
        std::uint32_t queue_count, run_count;  // counters
        std::int64_t queued = 0, running = 0;
    };
    struct Job : JobFacts {
        Ring* at = nullptr;  // where it is drawn
        std::uint64_t flow = 0;
        std::uint32_t track = 0;
        bool runs = false, waits = false;
    };

    Ring& ring_of(const JobFacts& job);
    void begin(Job& job, const JobStep::Key& key, std::uint64_t time, bool runs);
    void end(Job& job, std::uint64_t time, std::string_view how);
    void end_wait(Job& job, std::uint64_t time);
    Job& add(const JobStep& step, std::uint64_t time);
    void queue(const JobStep& step, std::uint64_t time);
    void run_unqueued(const JobStep& step, std::uint64_t time);

    Tracks& tracks_;
    TimelineWriter& writer_;
    std::map<std::pair<std::string, std::string>, Ring> rings_;  // by device and name
    OpenJobs<Job> jobs_;
    OpenJobs<Steps> kept_;
    std::uint64_t last_flow_ = 0;
    bool has_arrows_ = true;
};

}  // namespace gpufs
