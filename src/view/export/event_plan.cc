#include "view/export/event_plan.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/cat.h"
#include "base/text.h"
#include "view/trace/json.h"
#include "view/trace/kernel_text.h"
#include "view/trace/record_bytes.h"

namespace gpufs {
namespace {

struct KnownEvent {
    std::string_view name;
    EventPlan::Kind kind;
    std::vector<std::string_view> fields;
};

// include/trace/events/sched.h and dma_fence.h, drivers/gpu/drm/drm_trace.h.
const std::vector<KnownEvent>& known_events() {
    using Kind = EventPlan::Kind;
    static const std::vector<std::string_view> kWoken{"comm", "pid", "prio", "target_cpu"};
    static const std::vector<std::string_view> kFence{"driver", "timeline", "context", "seqno"};
    static const std::vector<KnownEvent> kKnown{
        {"sched:sched_switch",
         Kind::task_switch,
         {"prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid",
          "next_prio"}},
        {"sched:sched_waking", Kind::waking, kWoken},
        {"sched:sched_wakeup", Kind::wakeup, kWoken},
        {"drm:drm_vblank_event", Kind::vblank, {"crtc"}},
        {"dma_fence:dma_fence_init", Kind::fence_init, kFence},
        {"dma_fence:dma_fence_signaled", Kind::fence_signaled, kFence},
        {"dma_fence:dma_fence_destroy", Kind::fence_destroy, kFence},
        {"dma_fence:dma_fence_wait_start", Kind::wait_start, kFence},
        {"dma_fence:dma_fence_wait_end", Kind::wait_end, kFence},
    };
    return kKnown;
}

bool is_scalar(const Field& field) {
    return !field.is_array && !field.is_dynamic() &&
           (field.size == 1 || field.size == 2 || field.size == 4 || field.size == 8);
}

// An array without a size extends to the record's end.
std::string_view text_or_tail(const Field& field, RecordBytes record) {
    const bool is_open = field.is_array && !field.is_dynamic() && field.size == 0;
    return is_open ? up_to_nul(tail_of(&field, record)) : text_of(field, record);
}

}  // namespace

EventPlan plan_event(Events& events, int id) {
    EventPlan plan;
    plan.event = events.find(id);
    if (!plan.event) {
        plan.name = cat("unknown event ", id);
        return plan;
    }
    const EventFormat& format = plan.event->format;
    plan.name = format.name;
    plan.system = format.system;
    plan.full_name = format.full_name();
    plan.ftrace = find_ftrace_event(format);
    for (const Field& field : format.fields)
        if (!field.is_common) plan.own.push_back({&field, distinct_name(format, field)});
    const auto& known = known_events();
    const auto it = std::ranges::find(known, format.full_name(), &KnownEvent::name);
    if (it == known.end()) return plan;
    plan.fields = format.find_all(it->fields);
    if (!plan.fields.empty()) plan.kind = it->kind;
    return plan;
}

std::string_view EventArguments::name_of(const EventPlan& plan, const TraceRecord& record) {
    const FtraceEvent& ftrace = plan.ftrace;
    name_.clear();
    if (ftrace.kind == FtraceKind::function) {
        append_function(name_, integer_of(*ftrace.fields[0], record.bytes), context_.addresses,
                        false);
    } else if (ftrace.kind == FtraceKind::print) {
        name_ = up_to_nul(tail_of(ftrace.fields[1], record.bytes));
        while (name_.ends_with('\n')) name_.pop_back();
    }
    return name_.empty() ? std::string_view(plan.name) : name_;
}

void EventArguments::add_stack(const EventPlan& plan, const TraceRecord& record) {
    const bool is_user = plan.ftrace.kind == FtraceKind::user_stack;
    std::string& text = texts_.emplace_back();
    const AddressNames user = user_names(context_, record, is_user);
    const auto frames = stack_of(*plan.ftrace.fields[0], record.bytes, is_user);
    for (std::size_t i = 0; i < frames.size(); ++i) {
        if (i != 0) text += '\n';
        append_frame(text, frames[i], frame_place(i), is_user ? user : context_.addresses,
                     context_.options.sym_offset);
    }
    arguments_.push_back({"stack", Argument::Kind::text, 0, text});
}

std::span<const Argument> EventArguments::of(const EventPlan& plan, const TraceRecord& record) {
    arguments_.clear();
    texts_.clear();
    texts_.reserve(plan.own.size() + 1);  // arguments refer to them
    if (!plan.event) return arguments_;
    if (plan.ftrace.is_stack()) {
        add_stack(plan, record);
        return arguments_;
    }
    for (const auto& [field, name] : plan.own) {
        if (field->holds_text()) {
            arguments_.push_back(
                {name, Argument::Kind::text, 0, text_or_tail(*field, record.bytes)});
        } else if (is_scalar(*field)) {
            const auto kind = field->is_pointer  ? Argument::Kind::address
                              : field->is_signed ? Argument::Kind::signed_number
                                                 : Argument::Kind::unsigned_number;
            arguments_.push_back({name, kind, integer_of(*field, record.bytes), {}});
        } else {
            std::string& text = texts_.emplace_back();
            append_json_value(text, *field, record.bytes);
            arguments_.push_back({name, Argument::Kind::text, 0, text});
        }
    }
    return arguments_;
}

}  // namespace gpufs
