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
    const auto arguments = fence_arguments(plan, record);
    Open& fence =
        open_.add({arguments[0].number, arguments[1].number},
                  [&](const Key&, const Open& old) { end(old, record.timestamp, "not recorded"); });
    Lanes& lanes = lanes_of(plan.text(kDriver, record.bytes), plan.text(kTimeline, record.bytes));
    fence = {&lanes, lanes.take()};
    writer_.begin({fence.track, record.timestamp, "fence", kFenceCategory, arguments});
}

void FenceTracks::end(const Open& fence, std::uint64_t time, std::string_view how) {
    const Argument argument{"end", Argument::Kind::text, 0, how};
    writer_.end(fence.track, time, {&argument, how.empty() ? 0u : 1u});
    fence.lanes->give_back(fence.track);
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
    const Key key{arguments[0].number, arguments[1].number};
    const Open* const fence = open_.find(key);
    if (!fence) return;
    end(*fence, record.timestamp,
        plan.kind == Kind::fence_destroy ? "destroyed without a signal" : "");
    open_.remove(key);
}

}  // namespace gpufs
