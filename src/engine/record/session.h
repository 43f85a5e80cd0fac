#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/session/scratch_instance.h"
#include "engine/session/session.h"
#include "engine/session/settings.h"
#include "engine/session/triggers.h"
#include "kernel/tracefs/tracefs.h"
#include "lang/event/event_format.h"
#include "lang/expr/expr.h"

namespace gpufs {

// A trigger on the events that are recorded: "traceoff:1 if prev_state == 2".
struct RecordTrigger {
    Trigger trigger;                      // its own condition is below
    std::optional<Expression> condition;  // absent: the common one
};
// Throws UsageError for what is no trigger, or none for a recording.
RecordTrigger parse_record_trigger(const std::string& text);

// What is to be recorded, in the user's words.
struct RecordRequest {
    std::vector<std::string> events;      // as match_events() takes them
    bool gpu = false;                     // and those of gpu_timeline_events()
    std::optional<Expression> condition;  // only where it holds; absent: always
    std::vector<RecordTrigger> triggers;
    std::vector<Setting> settings;  // of the buffer
};

// What GPUs do and which task does it when: all events of GPU drivers, their scheduler and fences
// that this kernel has, but for accesses to single registers; the switches between tasks, and
// tasks' begins and ends. Throws UnsupportedError when no driver has an event.
std::vector<std::string> gpu_timeline_events(const Tracefs& top);

// An instance in which everything is set to record, and which is gone with this object. The buffer
// is off until start().
//
// The condition is a filter on every event, and has to check against each. Triggers go on all
// events, under the condition that they bring along or the common one. What switches the buffer on
// or off (traceon, traceoff) without a condition of its own takes the common one for itself: events
// are not filtered then, and the trigger goes on those that have its fields.
class RecordSession {
public:
    // Throws UsageError and SourceError before anything is made, and what Changes::apply() throws.
    RecordSession(const Tracefs& top, const RecordRequest& request);

    const Tracefs& top() const { return scratch_.top(); }
    const Tracefs& tracefs() const { return scratch_.tracefs(); }
    // Those whose records may come: also what triggers switch on.
    const std::vector<std::string>& events() const { return request_.events; }
    bool has_stacks() const { return has_trigger("stacktrace"); }
    // A trigger switches the buffer off, and none on: then all is over.
    bool ends_when_off() const { return has_trigger("traceoff") && !has_trigger("traceon"); }

    // Switches the buffer on; where there is a traceon trigger, that does it.
    void start() const;
    void stop() const;
    bool is_on() const;

private:
    // All that is wanted, in words of this kernel.
    struct Resolved {
        std::vector<std::string> events;
        std::vector<EventFormat> filtered;  // all of them, where there is a filter
        std::optional<Expression> filter;
        std::vector<TriggerOn> triggers;
    };
    static Resolved resolve(const Tracefs& top, const RecordRequest& request);
    bool has_trigger(std::string_view action) const;

    Resolved request_;
    ScratchInstance scratch_;
};

}  // namespace gpufs
