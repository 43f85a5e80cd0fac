#include "view/export/jobs.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>

#include "base/cat.h"
#include "base/source.h"
#include "engine/places/monitor_files.h"
#include "view/monitor/value_text.h"

namespace gpufs {
namespace {

// Which step a line is of, by the word that its monitor has for it; absent for other lines.
std::optional<JobStep::What> find_step(std::string_view word) {
    static constexpr std::pair<std::string_view, JobStep::What> kSteps[] = {
        {"QUEUE", JobStep::What::queue},   {"SUBMIT", JobStep::What::queue},
        {"ADD", JobStep::What::queue},     {"EXEC", JobStep::What::queue},
        {"WAIT_DEP", JobStep::What::wait}, {"RUN", JobStep::What::run},
        {"DONE", JobStep::What::done},     {"DROPPED", JobStep::What::dropped}};
    for (const auto& [name, what] : kSteps)
        if (name == word) return what;
    return std::nullopt;
}

// The members of one line.
class Line {
public:
    Line(const Layout& layout, std::span<const std::byte> bytes) : layout_(layout), bytes_(bytes) {}

    bool has(std::string_view name) const { return layout_.find(name) != nullptr; }
    std::uint64_t number(std::string_view name) const { return integer_at(plan(name), bytes_); }
    std::string text(std::string_view name) const {
        return std::string(text_at(plan(name), bytes_));
    }
    // The number's word, or itself.
    std::string word(std::string_view name) const {
        const auto number = static_cast<std::int64_t>(this->number(name));
        const EnumWords& words = require(name).type.words;
        const auto it = std::ranges::find(words, number, &EnumWords::value_type::first);
        return it == words.end() ? cat(number) : it->second;
    }

private:
    const Member& require(std::string_view name) const {
        const Member* member = layout_.find(name);
        if (!member) throw Error(cat("a monitor's line has no '", name, "'"));
        return *member;
    }
    ValuePlan plan(std::string_view name) const { return plan_value(layout_, require(name)); }

    const Layout& layout_;
    std::span<const std::byte> bytes_;
};

// A queue whose making is not recorded tells its kind of engine when its first job runs; older
// kernels do not tell the GT before.
std::string xe_ring(const std::string& engine, const std::string& gt) {
    return gt == "-" ? engine : cat(engine == "-" ? "" : engine + ' ', "gt", gt);
}

// Events of another form than the monitor's text knows, such as those of a driver of one's own.
std::string note_of(std::string_view monitor, const UsageError& mistake) {
    const auto* placed = dynamic_cast<const Placed*>(&mistake);
    return cat("jobs are not told as ", monitor, " finds them: ",
               placed ? placed->messages().front().message : std::string(mistake.what()));
}

// Before Linux 6.17 a recording without the events of fences tells of jobs by address only.
std::uint64_t fence_address(TraceContext& context, const TraceRecord& record) {
    const TraceEvent* event = context.events.find(record.id());
    const Field* fence = event ? event->format.find("fence") : nullptr;
    return fence ? integer_of(*fence, record.bytes) : 0;
}

}  // namespace

// A monitor whose lines tell of jobs.
struct RecordedJobs::Monitor {
    std::string_view file;
    std::string_view event;   // that it needs: a name, or a system with its colon
    bool is_below_scheduler;  // the scheduler's events tell more of the same jobs
    std::string_view limit;   // the parameter that says how many may be under way
    // Of the record of this event, with this field, it learns when a job comes to its engine; of
    // that one when the job is done. Empty: whatever is recorded. kNothing: there is no such event.
    std::string_view run, run_field, done;
    std::string_view context, job;  // the members of a line that name a job
    bool counts_by_device;          // another device has jobs of the same names
    std::string_view processor;
    std::string (*device)(const Line&);
    std::string (*ring)(const Line&);

    static std::span<const Monitor> all();
    bool is_in(Events& events) const;
    bool tells_run(Events& events) const { return has(events, run, {}); }
    bool tells_done(Events& events) const {
        return has(events, run, run_field) && has(events, done, {});
    }

private:
    static bool has(Events& events, std::string_view event, std::string_view field);
};

namespace {

constexpr std::string_view kNothing = "none";
constexpr std::string_view kScheduler = "gpu_scheduler:";

bool has_any(Events& events, std::string_view event) {
    if (!event.ends_with(':')) return std::ranges::count(events.names(), event) != 0;
    return std::ranges::any_of(events.names(),
                               [&](const std::string& name) { return name.starts_with(event); });
}

}  // namespace

std::span<const RecordedJobs::Monitor> RecordedJobs::Monitor::all() {
    static constexpr auto ring = [](const Line& line) { return line.text("ring"); };
    static constexpr auto no_device = [](const Line&) { return std::string(); };
    static const Monitor kAll[] = {
        {"drm.bpf", kScheduler, false, "jobs", "", "", "", "context", "job", false, "GPU",
         [](const Line& line) { return line.text("dev"); }, ring},
        {"amdgpu.bpf", "amdgpu:amdgpu_cs_ioctl", true, "jobs", "amdgpu:amdgpu_sched_run_job",
         "context", "dma_fence:dma_fence_signaled", "context", "number", false, "GPU", no_device,
         ring},
        {"i915.bpf", "i915:i915_request_add", false, "requests", "i915:i915_request_in", "", "",
         "context", "number", false, "GPU",
         [](const Line& line) { return cat(line.number("dev")); },
         [](const Line& line) { return cat(line.word("class"), ' ', line.number("instance")); }},
        {"xe.bpf", "xe:xe_sched_job_exec", true, "jobs", "xe:xe_exec_queue_submit", "", "",
         "guc_id", "seqno", true, "GPU", [](const Line& line) { return line.text("dev"); },
         [](const Line& line) { return xe_ring(line.word("class"), line.word("gt")); }},
        {"npu.bpf", "vpu:job", false, "jobs", kNothing, "", "", "context", "number", false, "NPU",
         no_device, [](const Line& line) { return line.word("engine"); }}};
    return kAll;
}

bool RecordedJobs::Monitor::is_in(Events& events) const {
    return has_any(events, event) && !(is_below_scheduler && has_any(events, kScheduler));
}

bool RecordedJobs::Monitor::has(Events& events, std::string_view event, std::string_view field) {
    if (event.empty()) return true;
    const EventFormat* format = event == kNothing ? nullptr : events.find_format(event);
    return format && (field.empty() || format->find(field));
}

// One monitor over the records.
class RecordedJobs::Source {
public:
    // Throws UnsupportedError where the recording has not all that the monitor needs.
    Source(const Monitor& monitor, std::uint32_t number, TraceFile& file)
        : monitor_(monitor),
          number_(number),
          file_(file),
          tells_run_(monitor.tells_run(file.context().events)),
          tells_done_(monitor.tells_done(file.context().events)),
          replay_(assemble_shipped(monitor.file), choice(monitor), file) {}

    const Monitor& monitor() const { return monitor_; }

    // Appends to the steps. Throws SourceError where the records are not what the monitor's text
    // takes them for.
    void run(const TraceRecord& record, std::vector<JobStep>& steps) {
        replay_.advance_to(record);
        replay_.run([&](const RecordLayout& layout, std::span<const std::byte> bytes) {
            take(Line(layout.layout, bytes), record, steps);
        });
    }

private:
    static PreparedProgram::Choice choice(const Monitor& monitor) {
        PreparedProgram::Choice choice;
        choice.parameters.numbers["lines"] = 1;
        choice.parameters.numbers[std::string(monitor.limit)] = std::int64_t{kMostOpenJobs};
        return choice;
    }

    void take(const Line& line, const TraceRecord& from, std::vector<JobStep>& steps);
    JobStep::Key awaited_by(const JobStep& step) const;
    std::uint32_t teller(const std::string& device);
    void take_in_turn(JobStep step, std::vector<JobStep>& steps);

    const Monitor& monitor_;
    std::uint32_t number_;
    TraceFile& file_;
    bool tells_run_, tells_done_;
    std::vector<std::string> devices_;
    // Where nobody tells when a job runs: those of a device and ring, the first is taken to run.
    std::map<std::string, std::deque<JobStep>> turns_;
    Replay replay_;
};

// The scheduler's monitor keeps it with the job.
JobStep::Key RecordedJobs::Source::awaited_by(const JobStep& step) const {
    std::array<std::uint64_t, 2> key{step.key.context, step.key.number};
    const auto bytes = std::as_writable_bytes(std::span(key));
    // Jobs may be known by another number than that of their fence.
    if (const ProgramMap* by_own = replay_.map("by_own")) by_own->lookup(bytes, bytes);
    const MapDeclaration* declared = replay_.program().find_map("under_way");
    const ProgramMap* jobs = replay_.map("under_way");
    if (!declared || !jobs) return {};
    std::vector<std::byte> job(jobs->whole_value_bytes());
    if (!jobs->lookup(bytes, job)) return {};
    const Line values(declared->value, job);
    return {values.number("on.context"), values.number("on.number"), number_};
}

std::uint32_t RecordedJobs::Source::teller(const std::string& device) {
    if (!monitor_.counts_by_device) return number_;
    const auto it = std::ranges::find(devices_, device);
    const auto place = static_cast<std::uint32_t>(it - devices_.begin());
    if (it == devices_.end()) devices_.push_back(device);
    constexpr std::uint32_t kMostMonitors = 16;
    return number_ + kMostMonitors * place;
}

void RecordedJobs::Source::take(const Line& line, const TraceRecord& from,
                                std::vector<JobStep>& steps) {
    const auto what = line.has("what") ? find_step(line.word("what")) : std::nullopt;
    if (!what || !line.has(monitor_.job)) return;
    JobStep step;
    step.what = *what;
    step.pid = static_cast<std::uint32_t>(line.number("pid"));
    step.comm = line.text("comm");
    step.processor = monitor_.processor;
    step.device = monitor_.device(line);
    step.ring = monitor_.ring(line);
    step.key = {line.number(monitor_.context), line.number(monitor_.job), teller(step.device)};
    if (line.has("fence")) step.key.fence = line.number("fence");
    if (step.key.context == 0 && step.key.number == 0)
        step.key.context = fence_address(file_.context(), from);
    if (line.has("on")) step.on = line.text("on");
    if (step.what == JobStep::What::wait) step.awaited = awaited_by(step);
    if (step.what == JobStep::What::run && !tells_done_) step.what = JobStep::What::last_run;
    if (tells_run_)
        steps.push_back(std::move(step));
    else
        take_in_turn(std::move(step), steps);
}

// A job is taken to run when none is before it on its ring. Fences of one context are signalled in
// their order: where a later one is done, so are those before it.
void RecordedJobs::Source::take_in_turn(JobStep step, std::vector<JobStep>& steps) {
    constexpr std::size_t kMostInTurn = 4096;  // on one ring, where ends are lost
    std::deque<JobStep>& turn = turns_[cat(step.device, '/', step.ring)];
    const auto run_first = [&] {
        if (turn.empty() || turn.front().what == JobStep::What::run) return;
        turn.front().what = JobStep::What::run;
        steps.push_back(turn.front());
    };
    if (step.what == JobStep::What::queue) {
        if (turn.size() == kMostInTurn) turn.pop_front();
        turn.push_back(step);
        steps.push_back(std::move(step));
    } else {
        std::erase_if(turn, [&](const JobStep& one) {
            return one.key.context == step.key.context && one.key.number <= step.key.number;
        });
        steps.push_back(std::move(step));
    }
    run_first();
}

RecordedJobs::RecordedJobs(TraceFile& file) {
    Events& events = file.context().events;
    const auto add = [&](const Monitor& monitor) {
        try {
            const auto number = static_cast<std::uint32_t>(sources_.size());
            sources_.push_back(std::make_unique<Source>(monitor, number, file));
        } catch (const UnsupportedError&) {
            // The recording has some of the monitor's events, and not those that all begins with.
        } catch (const UsageError& mistake) {
            notes_.push_back(note_of(monitor.file, mistake));
        }
    };
    for (const Monitor& monitor : Monitor::all())
        if (monitor.is_in(events)) add(monitor);
    // What no driver and no scheduler tells of may be known by its fences.
    if (sources_.empty() && has_any(events, "dma_fence:dma_fence_init"))
        add(Monitor::all().front());
}

RecordedJobs::~RecordedJobs() = default;

bool RecordedJobs::are_in(TraceFile& file) {
    Events& events = file.context().events;
    return has_any(events, "dma_fence:dma_fence_init") ||
           std::ranges::any_of(Monitor::all(),
                               [&](const Monitor& monitor) { return monitor.is_in(events); });
}

std::unique_ptr<RecordedJobs> RecordedJobs::find(TraceFile& file) {
    std::unique_ptr<RecordedJobs> jobs(new RecordedJobs(file));
    return jobs->sources_.empty() && jobs->notes_.empty() ? nullptr : std::move(jobs);
}

std::span<const JobStep> RecordedJobs::steps_of(const TraceRecord& record) {
    steps_.clear();
    std::erase_if(sources_, [&](const std::unique_ptr<Source>& source) {
        try {
            source->run(record, steps_);
            return false;
        } catch (const UsageError& mistake) {
            notes_.push_back(note_of(source->monitor().file, mistake));
            return true;
        }
    });
    return steps_;
}

}  // namespace gpufs
