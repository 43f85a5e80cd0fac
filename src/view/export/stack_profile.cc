#include "view/export/stack_profile.h"

#include <algorithm>

#include "base/cat.h"
#include "lang/event/field_value.h"
#include "lang/symbols/probe_functions.h"
#include "view/trace/kernel_text.h"

namespace gpufs {

std::uint32_t StackProfile::kernel_frame(std::uint64_t address, FramePlace place) {
    auto& known = place == FramePlace::outer ? outer_ : innermost_;
    const auto [it, is_new] =
        known.try_emplace(address, static_cast<std::uint32_t>(frames_.size()));
    if (!is_new) return it->second;
    Frame frame{address, false, {}};
    append_frame(frame.name, address, place, context_.addresses, false);
    frames_.push_back(std::move(frame));
    return it->second;
}

std::uint32_t StackProfile::user_frame(int process, std::uint64_t address, FramePlace place) {
    Frame frame{address, true, {}};
    append_frame(frame.name, address, place, context_.addresses.of_process(process), false);
    const int of = context_.addresses.user ? process : 0;
    const auto [it, is_new] = user_frames_.try_emplace({of, address, frame.name},
                                                       static_cast<std::uint32_t>(frames_.size()));
    if (is_new) frames_.push_back(std::move(frame));
    return it->second;
}

void StackProfile::count(const Pending& pending) {
    if (pending.kernel.empty() && pending.user.empty()) return;
    std::vector<std::uint32_t> kernel;
    for (std::size_t i = 0; i < pending.kernel.size(); ++i)
        kernel.push_back(kernel_frame(pending.kernel[i], frame_place(i)));
    const auto innermost = std::ranges::find_if_not(
        kernel, [this](std::uint32_t frame) { return is_probe_function(frames_[frame].name); });
    Sample sample;
    const TraceEvent* event = context_.events.find(pending.id);
    sample.event = event ? event->format.full_name() : cat("unknown event ", pending.id);
    sample.tid = pending.tid;
    sample.comm = pending.comm;
    sample.frames.assign(pending.user.rbegin(), pending.user.rend());
    for (auto it = kernel.end(); it != innermost;) sample.frames.push_back(*--it);
    ++counts_[std::move(sample)];
}

void StackProfile::add(const TraceRecord& record) {
    if (first_ == 0) first_ = record.timestamp;
    last_ = record.timestamp;
    if (record.stream >= pending_.size()) pending_.resize(record.stream + 1);
    OpenEvents<Pending>& events = pending_[record.stream];
    const FtraceEvent& kind = kinds_.get(record.id(), [this](int id) {
        const TraceEvent* event = context_.events.find(id);
        return event ? find_ftrace_event(event->format) : FtraceEvent();
    });
    const auto close = [this](const Pending& pending) { count(pending); };
    if (!record.lost_before.is_zero()) events.close_all(close);
    const CommonFields common = common_fields(record.bytes);
    if (!kind.is_stack()) {
        events.open(common, {record.id(), common.pid, context_.tasks.comm(common.pid), {}, {}},
                    close);
        return;
    }
    Pending* const pending = events.find(common, close);
    if (!pending) {
        ++stray_;
        return;
    }
    const bool is_user = kind.kind == FtraceKind::user_stack;
    auto stack = stack_of(*kind.fields[0], record.bytes, is_user);
    if (!is_user) {
        pending->kernel = std::move(stack);
        return;
    }
    pending->user.clear();
    for (std::size_t i = 0; i < stack.size(); ++i)
        pending->user.push_back(user_frame(process_of(context_, record), stack[i], frame_place(i)));
}

void StackProfile::finish() {
    for (OpenEvents<Pending>& events : pending_)
        events.close_all([this](const Pending& pending) { count(pending); });
}

}  // namespace gpufs
