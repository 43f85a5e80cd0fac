#include "view/export/job_tracks.h"

#include <array>

#include "base/cat.h"
#include "base/sorted.h"

namespace gpufs {
namespace {

std::uint32_t add_counter(Tracks& tracks, std::uint32_t group, const char* name) {
    Track track;
    track.kind = Track::Kind::counter;
    track.parent = group;
    track.name = name;
    track.unit = kJobsUnit;
    return tracks.add(std::move(track));
}

}  // namespace

JobTracks::Ring::Ring(Tracks& tracks, std::uint32_t group)
    : queue(tracks, group, "queue"),
      run(tracks, group, std::string(kRunTrack)),
      queue_count(add_counter(tracks, group, "jobs in the queue")),
      run_count(add_counter(tracks, group, "jobs on the ring")) {}

JobTracks::Ring& JobTracks::ring_of(const JobFacts& job) {
    const auto it = rings_.find({job.device, job.ring});
    if (it != rings_.end()) return it->second;
    const bool is_known = !job.device.empty() && job.device != "-";
    const std::uint32_t device =
        tracks_.group(is_known ? cat(job.processor, ' ', job.device) : std::string(job.processor));
    const std::uint32_t group = tracks_.group(cat("ring ", job.ring), device);
    return rings_
        .emplace(std::piecewise_construct, std::forward_as_tuple(job.device, job.ring),
                 std::forward_as_tuple(tracks_, group))
        .first->second;
}

void JobTracks::begin(Job& job, const JobStep::Key& key, std::uint64_t time, bool runs) {
    job.at = &ring_of(job);
    Ring& ring = *job.at;
    job.runs = runs;
    job.track = (runs ? ring.run : ring.queue).take();
    const std::array<Argument, 4> arguments{
        Argument{"pid", Argument::Kind::unsigned_number, job.pid, {}},
        Argument{"ring", Argument::Kind::text, 0, job.ring},
        Argument{"context", Argument::Kind::unsigned_number, key.context, {}},
        Argument{"seqno", Argument::Kind::unsigned_number, key.number, {}}};
    Happening slice{job.track, time, job.comm, kGpuCategory, arguments, job.flow};
    writer_.begin(slice);
    std::int64_t& count = runs ? ring.running : ring.queued;
    writer_.count(runs ? ring.run_count : ring.queue_count, time, ++count);
}

// Of its time in the queue or on the ring. `how` is empty for the usual end.
void JobTracks::end(Job& job, std::uint64_t time, std::string_view how) {
    end_wait(job, time);
    Ring& ring = *job.at;
    const Argument argument{"end", Argument::Kind::text, 0, how};
    writer_.end(job.track, time, {&argument, how.empty() ? 0u : 1u});
    (job.runs ? ring.run : ring.queue).give_back(job.track);
    std::int64_t& count = job.runs ? ring.running : ring.queued;
    writer_.count(job.runs ? ring.run_count : ring.queue_count, time, --count);
}

void JobTracks::end_wait(Job& job, std::uint64_t time) {
    if (job.waits) writer_.end(job.track, time, {});
    job.waits = false;
}

JobTracks::Job& JobTracks::add(const JobStep& step, std::uint64_t time) {
    Job& job =
        jobs_.add(step.key, [&](const JobStep::Key&, Job& old) { end(old, time, "not recorded"); });
    job.take(step, time);
    return job;
}

void JobTracks::queue(const JobStep& step, std::uint64_t time) {
    Job& job = add(step, time);
    if (has_arrows_) job.flow = ++last_flow_;
    begin(job, step.key, time, false);
}

// The driver's own, or one whose submission is not recorded.
void JobTracks::run_unqueued(const JobStep& step, std::uint64_t time) {
    begin(add(step, time), step.key, time, true);
}

JobTracks::Arrow JobTracks::draw(const JobStep& step, std::uint64_t time) {
    using What = JobStep::What;
    if (step.what == What::queue) {
        queue(step, time);
        return {};
    }
    Job* const known = jobs_.find(step.key);
    if (!known) {
        if (step.what == What::run) run_unqueued(step, time);
        return {};
    }
    Job& job = *known;
    job.take(step, time);
    if (step.what == What::wait) {
        end_wait(job, time);
        const std::string name = step.on.empty() ? "waits" : cat("waits for ", step.on);
        const std::array<Argument, 2> awaited{
            Argument{"context", Argument::Kind::unsigned_number, step.awaited.context, {}},
            Argument{"seqno", Argument::Kind::unsigned_number, step.awaited.number, {}}};
        const bool is_known = step.awaited != JobStep::Key();
        writer_.begin({job.track, time, name, kGpuCategory,
                       std::span(awaited.data(), is_known ? awaited.size() : 0)});
        job.waits = true;
    } else if (step.what == What::run) {
        end(job, time, {});
        begin(job, step.key, time, true);
    } else if (step.what == What::last_run) {
        end(job, time, {});
        jobs_.remove(step.key);
    } else {
        end(job, time, step.what == What::dropped ? "given up" : "");
        const Arrow arrow{job.flow, true};
        jobs_.remove(step.key);
        return arrow;
    }
    return {};
}

void JobTracks::keep(const JobStep& step, std::uint64_t time) {
    if (step.is_last()) return kept_.remove(step.key);
    Steps* steps = step.what == JobStep::What::queue ? nullptr : kept_.find(step.key);
    if (!steps) steps = &kept_.add(step.key, [](const JobStep::Key&, Steps&) {});
    steps->emplace_back(time, step);
}

std::optional<std::uint64_t> JobTracks::first_kept() const {
    std::optional<std::uint64_t> first;
    kept_.for_each([&](const JobStep::Key&, const Steps& steps) {
        first = std::min(first.value_or(steps.front().first), steps.front().first);
    });
    return first;
}

void JobTracks::draw_kept() {
    Steps all;
    kept_.for_each([&](const JobStep::Key&, const Steps& steps) {
        all.insert(all.end(), steps.begin(), steps.end());
    });
    kept_ = {};
    sort_stably(all, {}, &Steps::value_type::first);
    has_arrows_ = false;
    for (const auto& [time, step] : all) draw(step, time);
    has_arrows_ = true;
}

void JobTracks::draw_on(const JobStep& step, std::uint64_t time) {
    if (step.what != JobStep::What::queue && jobs_.find(step.key)) draw(step, time);
}

}  // namespace gpufs
