#include "view/export/fence_tracks.h"

#include <array>

#include "base/cat.h"

namespace gpufs {
namespace {

constexpr std::string_view kFenceCategory = "dma_fence";
// The fields, as plan_event() has them.
constexpr std::size_t kDriver = 0, kTimeline = 1, kContext = 2, kSeqno = 3;

std::array<Argument, 2> fence_arguments(const EventPlan& plan, const TraceRecord& record) {
    const auto number = [&](std::size_t field) {
        return static_cast<std::uint64_t>(plan.number(field, record.bytes));
    };
    return {Argument{"context", Argument::Kind::unsigned_number, number(kContext), {}},
            Argument{"seqno", Argument::Kind::unsigned_number, number(kSeqno), {}}};
}

std::string owner_of(const EventPlan& plan, const TraceRecord& record) {
    return cat(plan.text(kDriver, record.bytes), ' ', plan.text(kTimeline, record.bytes));
}

}  // namespace

Lanes& FenceTracks::lanes_of(std::string_view driver, std::string_view timeline) {
    std::string name = cat(driver, ' ', timeline);
    if (const auto it = lanes_.find(name); it != lanes_.end()) return it->second;
    const std::uint32_t group = tracks_.group("Fences");
    return lanes_.try_emplace(name, tracks_, group, name).first->second;
}

void FenceTracks::begin(const EventPlan& plan, const TraceRecord& record) {
    constexpr std::size_t kMost = 65536;
    const auto arguments = fence_arguments(plan, record);
    const Key key{arguments[0].number, arguments[1].number};
    if (const auto old = open_.find(key); old != open_.end())
        end(old, record.timestamp, "not recorded");
    if (open_.size() == kMost) {
        ++left_out_;
        return;
    }
    Lanes& lanes = lanes_of(plan.text(kDriver, record.bytes), plan.text(kTimeline, record.bytes));
    const std::uint32_t track = lanes.take();
    open_[key] = {&lanes, track};
    writer_.begin({track, record.timestamp, "fence", kFenceCategory, arguments});
}

void FenceTracks::end(Fences::iterator fence, std::uint64_t time, std::string_view how) {
    const Argument argument{"end", Argument::Kind::text, 0, how};
    writer_.end(fence->second.track, time, {&argument, how.empty() ? 0u : 1u});
    fence->second.lanes->give_back(fence->second.track);
    open_.erase(fence);
}

// A task waits for one at a time.
void FenceTracks::begin_wait(const EventPlan& plan, const TraceRecord& record, std::uint32_t task) {
    end_wait(task, record.timestamp);
    const std::string name = cat("waits for ", owner_of(plan, record));
    const auto arguments = fence_arguments(plan, record);
    writer_.begin({task, record.timestamp, name, kFenceCategory, arguments});
    waits_.insert(task);
}

void FenceTracks::end_wait(std::uint32_t task, std::uint64_t time) {
    const auto it = waits_.find(task);
    if (it == waits_.end()) return;
    writer_.end(task, time, {});
    waits_.erase(it);
}

void FenceTracks::draw(const EventPlan& plan, const TraceRecord& record, std::uint32_t task) {
    using Kind = EventPlan::Kind;
    if (plan.kind == Kind::fence_init) begin(plan, record);
    if (plan.kind == Kind::wait_start) begin_wait(plan, record, task);
    if (plan.kind == Kind::wait_end) end_wait(task, record.timestamp);
    if (plan.kind != Kind::fence_signaled && plan.kind != Kind::fence_destroy) return;
    const auto arguments = fence_arguments(plan, record);
    const auto fence = open_.find({arguments[0].number, arguments[1].number});
    if (fence != open_.end())
        end(fence, record.timestamp,
            plan.kind == Kind::fence_destroy ? "destroyed without a signal" : "");
}

}  // namespace gpufs
