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

// A trigger on the recorded events: "traceoff:1 if prev_state == 2".
struct RecordTrigger {
    Trigger trigger;                      // without its condition
    std::optional<Expression> condition;  // absent: that of the request
};
// Throws UsageError if the text is not a trigger, or not one for recordings.
RecordTrigger parse_record_trigger(const std::string& text);

// What to record, as requested by the user.
struct RecordRequest {
    std::vector<std::string> events;      // in the syntax of Events::match()
    bool gpu = false;                     // adds gpu_timeline_events()
    std::optional<Expression> condition;  // absent: record always
    std::vector<RecordTrigger> triggers;
    std::vector<Setting> settings;  // for the buffer
};

// All events that this kernel has of GPU drivers, their scheduler and fences, except register
// accesses; and the events of task switches, starts and exits. Throws UnsupportedError if no driver
// has an event.
std::vector<std::string> gpu_timeline_events(const Tracefs& top);

// A temporary instance in which everything is set to record; the destructor removes it. The buffer
// is off until start().
//
// The condition becomes a filter on every event and must be valid for each. Triggers are set on all
// events, with their own condition or the common one. If a trigger that switches the buffer
// (traceon, traceoff) has no condition of its own, it takes the common one instead of the filters;
// it is then set on the events that have the fields of the condition.
class RecordSession {
public:
    // Throws UsageError and SourceError before making anything, and the errors of Changes::apply().
    RecordSession(const Tracefs& top, const RecordRequest& request);

    const Tracefs& top() const { return scratch_.top(); }
    const Tracefs& tracefs() const { return scratch_.tracefs(); }
    // The events that may be recorded, including those that triggers enable.
    const std::vector<std::string>& events() const { return request_.events; }
    bool has_stacks() const { return has_trigger("stacktrace"); }
    // Whether the end of recording is final: a trigger switches the buffer off, and none switches
    // it on.
    bool ends_when_off() const { return has_trigger("traceoff") && !has_trigger("traceon"); }

    // Switches the buffer on, unless a traceon trigger does.
    void start();
    void stop() const;
    bool is_on() const;

private:
    // The request, resolved for this kernel.
    struct Resolved {
        std::vector<std::string> events;
        std::vector<EventFormat> filtered;  // empty if there is no filter, otherwise all
        std::optional<Expression> filter;
        std::vector<TriggerOn> triggers;
    };
    static Resolved resolve(const Tracefs& top, const RecordRequest& request);
    bool has_trigger(std::string_view action) const;
    void restore_counts() const;

    Resolved request_;
    ScratchInstance scratch_;
    bool has_begun_ = false;
};

}  // namespace gpufs
