#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/trace/context.h"
#include "engine/trace/events.h"
#include "lang/event/field_value.h"
#include "lang/trace_dat/record_merge.h"
#include "view/export/timeline.h"
#include "view/trace/ftrace_event.h"

namespace gpufs {

// How the records of one event become part of a timeline; made once.
struct EventPlan {
    enum class Kind {
        plain,
        task_switch,  // sched_switch
        waking,       // sched_waking
        wakeup,       // sched_wakeup
        vblank,       // drm_vblank_event
        fence_init,
        fence_signaled,
        fence_destroy,
        wait_start,
        wait_end,
    };
    Kind kind = Kind::plain;
    const TraceEvent* event = nullptr;    // null: no event of this id
    std::string name, system, full_name;  // "sched_switch", "sched", "sched:sched_switch"
    FtraceEvent ftrace;
    // All fields but the common ones.
    struct Own {
        const Field* field;
        std::string name;
    };
    std::vector<Own> own;
    // Those that the kind needs, in the order of the table in event_plan.cc; empty for plain.
    std::vector<const Field*> fields;

    // A number of `fields`, a text of it.
    std::int64_t number(std::size_t at, RecordBytes record) const {
        return static_cast<std::int64_t>(integer_of(*fields[at], record));
    }
    std::string_view text(std::size_t at, RecordBytes record) const {
        return text_of(*fields[at], record);
    }
};
EventPlan plan_event(Events& events, int id);

// The names and values of records' fields.
class EventArguments {
public:
    // Keeps a reference to the context.
    explicit EventArguments(TraceContext& context) : context_(context) {}

    // Good until the next call, or as long as the record.
    std::span<const Argument> of(const EventPlan& plan, const TraceRecord& record);
    // What the record is called: its event, or of an event that only carries a text or a function,
    // that. Good until the next call.
    std::string_view name_of(const EventPlan& plan, const TraceRecord& record);

private:
    void add_stack(const EventPlan& plan, const TraceRecord& record);

    TraceContext& context_;
    std::vector<Argument> arguments_;
    std::vector<std::string> texts_;  // by field, of values that the record has no text of
    std::string name_;
};

}  // namespace gpufs
