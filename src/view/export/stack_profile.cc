#include "view/export/stack_profile.h"

#include <algorithm>

#include "base/cat.h"
#include "lang/event/field_value.h"
#include "lang/symbols/probe_functions.h"
#include "view/trace/kernel_text.h"

namespace gpufs {

std::uint32_t StackProfile::kernel_frame(std::uint64_t address) {
    const auto [it, is_new] =
        kernel_frames_.try_emplace(address, static_cast<std::uint32_t>(frames_.size()));
    if (!is_new) return it->second;
    Frame frame{address, false, {}};
    append_function(frame.name, address, context_.addresses, false);
    frames_.push_back(std::move(frame));
    return it->second;
}

std::uint32_t StackProfile::user_frame(int process, std::uint64_t address) {
    Frame frame{address, true, {}};
    append_function(frame.name, address, context_.addresses.of_process(process), false);
    const int of = context_.addresses.user ? process : 0;
    const auto [it, is_new] = user_frames_.try_emplace({of, address, frame.name},
                                                       static_cast<std::uint32_t>(frames_.size()));
    if (is_new) frames_.push_back(std::move(frame));
    return it->second;
}

bool StackProfile::is_tracer(std::uint64_t address) {
    return is_probe_function(frames_[kernel_frame(address)].name);
}

void StackProfile::count(Pending& pending) {
    if (pending.kernel.empty() && pending.user.empty()) return;
    auto& kernel = pending.kernel;
    kernel.erase(kernel.begin(), std::ranges::find_if_not(kernel, [this](std::uint64_t address) {
                     return is_tracer(address);
                 }));
    Sample sample;
    const TraceEvent* event = context_.events.find(pending.id);
    sample.event = event ? event->format.full_name() : cat("unknown event ", pending.id);
    sample.tid = pending.tid;
    sample.comm = pending.comm;
    sample.frames.assign(pending.user.rbegin(), pending.user.rend());
    for (auto it = kernel.rbegin(); it != kernel.rend(); ++it)
        sample.frames.push_back(kernel_frame(*it));
    ++counts_[std::move(sample)];
    pending.kernel.clear();
    pending.user.clear();
}

void StackProfile::add(const TraceRecord& record) {
    if (first_ == 0) first_ = record.timestamp;
    last_ = record.timestamp;
    if (record.stream >= pending_.size()) pending_.resize(record.stream + 1);
    Pending& pending = pending_[record.stream];
    const FtraceEvent& kind = kinds_.get(record.id(), [this](int id) {
        const TraceEvent* event = context_.events.find(id);
        return event ? find_ftrace_event(event->format) : FtraceEvent();
    });
    if (!kind.is_stack()) {
        count(pending);
        pending.id = record.id();
        pending.tid = common_fields(record.bytes).pid;
        pending.comm = context_.tasks.comm(pending.tid);
        return;
    }
    // What is in front of a gap is not what the stack is of.
    if (!record.lost_before.is_zero()) {
        count(pending);
        pending.id = -1;
    }
    if (pending.id == -1) return;
    const bool is_user = kind.kind == FtraceKind::user_stack;
    auto stack = stack_of(*kind.fields[0], record.bytes, is_user);
    if (!is_user) {
        pending.kernel = std::move(stack);
        return;
    }
    pending.user.clear();
    for (const std::uint64_t address : stack)
        pending.user.push_back(user_frame(process_of(context_, record), address));
}

void StackProfile::finish() {
    for (Pending& pending : pending_) count(pending);
}

}  // namespace gpufs
