#include "view/export/jobs.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "engine/places/monitor_files.h"
#include "view/monitor/value_text.h"

namespace gpufs {
namespace {

constexpr std::string_view kMonitor = "drm.bpf";
// As many jobs as may be under way.
constexpr std::int64_t kMostJobs = 65536;

bool tells_of_jobs(std::string_view event) {
    return event.starts_with("gpu_scheduler:") || event == "dma_fence:dma_fence_init";
}

// Which step a line is of, by the word that the monitor has for it; absent for other lines.
std::optional<JobStep::What> find_step(std::string_view word) {
    static constexpr std::pair<std::string_view, JobStep::What> kSteps[] = {
        {"QUEUE", JobStep::What::queue},
        {"WAIT_DEP", JobStep::What::wait},
        {"RUN", JobStep::What::run},
        {"DONE", JobStep::What::done},
        {"DROPPED", JobStep::What::dropped}};
    for (const auto& [name, what] : kSteps)
        if (name == word) return what;
    return std::nullopt;
}

// The members of one line.
class Line {
public:
    Line(const Layout& layout, std::span<const std::byte> bytes) : layout_(layout), bytes_(bytes) {}

    std::uint64_t number(std::string_view name) const { return integer_at(plan(name), bytes_); }
    std::string text(std::string_view name) const {
        return std::string(text_at(plan(name), bytes_));
    }
    std::string_view word(std::string_view name) const {
        const Member& member = require(name);
        const auto number = static_cast<std::int64_t>(this->number(name));
        const auto& words = member.type.words;
        const auto it = std::ranges::find(words, number, &EnumWords::value_type::first);
        return it == words.end() ? std::string_view() : it->second;
    }

private:
    const Member& require(std::string_view name) const {
        const Member* member = layout_.find(name);
        if (!member) throw Error(cat("monitor ", kMonitor, " tells no '", name, "'"));
        return *member;
    }
    ValuePlan plan(std::string_view name) const { return plan_value(layout_, require(name)); }

    const Layout& layout_;
    std::span<const std::byte> bytes_;
};

// Before Linux 6.17 a recording without the events of fences tells of jobs by address only.
std::uint64_t fence_address(TraceContext& context, const TraceRecord& record) {
    const TraceEvent* event = context.events.find(record.id());
    const Field* fence = event ? event->format.find("fence") : nullptr;
    return fence ? integer_of(*fence, record.bytes) : 0;
}

}  // namespace

std::unique_ptr<RecordedJobs> RecordedJobs::find(TraceFile& file) {
    if (std::ranges::none_of(file.context().events.names(), tells_of_jobs)) return nullptr;
    PreparedProgram::Choice choice;
    choice.parameters.numbers["lines"] = 1;
    choice.parameters.numbers["jobs"] = kMostJobs;
    try {
        return std::unique_ptr<RecordedJobs>(
            new RecordedJobs(assemble_shipped(kMonitor), std::move(choice), file));
    } catch (const UnsupportedError&) {
        return nullptr;
    }
}

RecordedJobs::RecordedJobs(Program program, PreparedProgram::Choice choice, TraceFile& file)
    : file_(file), replay_(std::move(program), std::move(choice), file) {}

std::span<const JobStep> RecordedJobs::steps_of(const TraceRecord& record) {
    steps_.clear();
    replay_.advance_to(record);
    replay_.run([&](const RecordLayout& layout, std::span<const std::byte> line) {
        take(layout, line, record);
    });
    return steps_;
}

// The monitor keeps it with the job.
JobStep::Key RecordedJobs::awaited_by(const JobStep& step) const {
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
    return {values.number("on.context"), values.number("on.number")};
}

void RecordedJobs::take(const RecordLayout& layout, std::span<const std::byte> record,
                        const TraceRecord& from) {
    const Line line(layout.layout, record);
    const auto what = find_step(line.word("what"));
    if (!what) return;
    JobStep step;
    step.what = *what;
    step.key = {line.number("context"), line.number("job")};
    if (step.key == JobStep::Key()) step.key = {fence_address(file_.context(), from), 0};
    step.pid = static_cast<std::uint32_t>(line.number("pid"));
    step.comm = line.text("comm");
    step.device = line.text("dev");
    step.ring = line.text("ring");
    step.on = line.text("on");
    if (step.what == JobStep::What::wait) step.awaited = awaited_by(step);
    steps_.push_back(std::move(step));
}

}  // namespace gpufs
