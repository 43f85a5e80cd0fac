#include "view/export/record_timeline.h"

#include <algorithm>

#include "base/cat.h"
#include "base/kernel_abi.h"
#include "view/losses.h"

namespace gpufs {
namespace {

bool is_interrupt(const CommonFields& common) {
    return (common.flags & (kTraceHardirq | kTraceSoftirq | kTraceNmi)) != 0;
}

}  // namespace

std::string clock_note(TraceFile& file) {
    if (file.context().options.clock_is_ns) return {};
    return cat("the clock '", file.facts().clock,
               "' counts no nanoseconds: each count is shown as one");
}

RecordTimeline::RecordTimeline(TraceFile& file, TimelineWriter& writer)
    : file_(file),
      writer_(writer),
      tracks_(writer),
      arguments_(file.context()),
      jobs_(RecordedJobs::find(file)),
      job_tracks_(tracks_, writer),
      fence_tracks_(tracks_, writer),
      gpu_tracks_(tracks_, writer) {}

std::vector<std::string> RecordTimeline::notes() const {
    std::vector<std::string> notes = jobs_ ? jobs_->notes() : std::vector<std::string>();
    if (const std::uint64_t left_out = gpu_tracks_.left_out(); left_out != 0)
        notes.push_back(cat(left_out, " buffers are not counted: too many were there at a time"));
    if (const std::string note = clock_note(file_); !note.empty()) notes.push_back(note);
    return notes;
}

std::uint32_t RecordTimeline::task_track(int tid) {
    std::uint32_t& known = tasks_[tid];
    if (known != 0) return known;
    const TaskNames& names = file_.context().tasks;
    Track track;
    track.kind = Track::Kind::task;
    track.tid = tid;
    // Where its process is not recorded, a task is told as one of its own.
    const int process = names.tgid(tid);
    track.pid = process == 0 ? tid : process;
    track.name = names.comm(tid);
    return known = tracks_.add(std::move(track));
}

std::uint32_t RecordTimeline::cpu_track(int cpu) {
    std::uint32_t& known = cpus_[cpu];
    if (known != 0) return known;
    Track track;
    track.parent = tracks_.group("CPUs");
    track.name = cat("CPU ", cpu);
    return known = tracks_.add(std::move(track));
}

std::uint32_t RecordTimeline::display_track(std::int64_t crtc) {
    std::uint32_t& known = displays_[crtc];
    if (known != 0) return known;
    Track track;
    track.parent = tracks_.group("Displays");
    track.name = cat("crtc ", crtc);
    return known = tracks_.add(std::move(track));
}

std::uint32_t RecordTimeline::track_of(const EventPlan& plan, const TraceRecord& record,
                                       const CommonFields& common) {
    if (plan.kind == Kind::vblank) return display_track(plan.number(0, record.bytes));
    if (common.pid <= 0 || is_interrupt(common)) return cpu_track(record.cpu);
    return task_track(common.pid);
}

void RecordTimeline::begin(const TraceRecord& record) {
    has_begun_ = true;
    const std::uint64_t first = job_tracks_.first_kept().value_or(record.timestamp);
    writer_.start({file_.facts().clock, file_.facts().uname}, std::min(first, record.timestamp));
    job_tracks_.draw_kept();
}

void RecordTimeline::tell_loss(const TraceRecord& record) {
    const auto last = last_of_cpu_.find(record.cpu);
    writer_.lose({record.cpu, last == last_of_cpu_.end() ? record.timestamp : last->second,
                  record.timestamp, record.lost_before});
    const std::string name = cat(loss_text(record.lost_before), " lost");
    writer_.instant({cpu_track(record.cpu), record.timestamp, name, "lost", {}});
}

void RecordTimeline::switch_task(const EventPlan& plan, const TraceRecord& record) {
    const auto number = [&](std::size_t field) {
        return static_cast<int>(plan.number(field, record.bytes));
    };
    TaskSwitch change;
    change.time = record.timestamp;
    change.cpu = record.cpu;
    change.prev_comm = plan.text(0, record.bytes);
    change.prev_pid = number(1);
    change.prev_prio = number(2);
    change.prev_state = plan.number(3, record.bytes);
    change.next_comm = plan.text(4, record.bytes);
    change.next_pid = number(5);
    change.next_prio = number(6);
    writer_.switch_task(change);
}

void RecordTimeline::wake(const EventPlan& plan, const TraceRecord& record,
                          const CommonFields& common) {
    const auto number = [&](std::size_t field) {
        return static_cast<int>(plan.number(field, record.bytes));
    };
    Wakeup wakeup;
    wakeup.time = record.timestamp;
    wakeup.cpu = record.cpu;
    wakeup.waker = common.pid;
    wakeup.flags = common.flags;
    wakeup.comm = plan.text(0, record.bytes);
    wakeup.pid = number(1);
    wakeup.prio = number(2);
    wakeup.target_cpu = number(3);
    writer_.wake(wakeup);
}

void RecordTimeline::add_instant(const EventPlan& plan, const TraceRecord& record,
                                 const CommonFields& common, std::span<const JobStep> steps) {
    // What an arrow leads to from here comes behind the event.
    const auto behind = std::ranges::find_if(steps, JobTracks::begins_arrow);
    JobTracks::Arrow arrow;
    for (const JobStep& step : std::span(steps.begin(), behind)) {
        const JobTracks::Arrow drawn = job_tracks_.draw(step, record.timestamp);
        if (arrow.flow == 0) arrow = drawn;
    }
    if (behind != steps.end()) arrow = job_tracks_.next_arrow();
    const std::uint32_t track = track_of(plan, record, common);
    const std::span<const Argument> arguments = arguments_.of(plan, record);
    writer_.instant({track, record.timestamp, arguments_.name_of(plan, record), plan.system,
                     arguments, arrow.flow, arrow.is_end});
    gpu_tracks_.draw(plan, record, arguments);
    for (const JobStep& step : std::span(behind, steps.end()))
        job_tracks_.draw(step, record.timestamp);
    fence_tracks_.draw(plan, record, track);
}

std::span<const JobStep> RecordTimeline::steps_of(const TraceRecord& record) {
    return jobs_ ? jobs_->steps_of(record) : std::span<const JobStep>();
}

void RecordTimeline::add_before(const TraceRecord& record) {
    for (const JobStep& step : steps_of(record)) job_tracks_.keep(step, record.timestamp);
}

bool RecordTimeline::add_behind(const TraceRecord& record) {
    if (!job_tracks_.has_open_jobs()) return false;
    for (const JobStep& step : steps_of(record)) job_tracks_.draw_on(step, record.timestamp);
    return job_tracks_.has_open_jobs();
}

std::span<const JobStep> RecordTimeline::add_unseen(const TraceRecord& record) {
    const auto steps = steps_of(record);
    if (!steps.empty() && !has_begun_) begin(record);
    for (const JobStep& step : steps) job_tracks_.draw(step, record.timestamp);
    return steps;
}

std::span<const JobStep> RecordTimeline::add(const TraceRecord& record) {
    if (!has_begun_) begin(record);
    if (!record.lost_before.is_zero()) tell_loss(record);
    last_of_cpu_[record.cpu] = record.timestamp;
    const EventPlan& plan =
        plans_.get(record.id(), [&](int id) { return plan_event(file_.context().events, id); });
    const CommonFields common = common_fields(record.bytes);
    const auto steps = steps_of(record);
    sees_waking_ = sees_waking_ || plan.kind == Kind::waking;
    // A wakeup behind its waking is an event like others.
    const bool is_wakeup =
        plan.kind == Kind::waking || (plan.kind == Kind::wakeup && !sees_waking_);
    if (plan.kind == Kind::task_switch)
        switch_task(plan, record);
    else if (is_wakeup)
        wake(plan, record, common);
    else
        add_instant(plan, record, common, steps);
    return steps;
}

}  // namespace gpufs
