#include "engine/recorder/session.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/glob.h"
#include "base/source.h"
#include "engine/session/filters.h"
#include "engine/trace/kernel_events.h"
#include "lang/event/gpu_systems.h"

namespace gpufs {
namespace {

// One record for each register that a driver touches: hundreds of thousands a second.
constexpr std::string_view kRegisterEvents[] = {"*:*_reg_rw", "*:*_rreg", "*:*_wreg"};
// With these a viewer draws tasks: who ran when, its name, its begin and end.
constexpr std::string_view kTaskEvents[] = {"sched:sched_switch", "sched:sched_process_fork",
                                            "sched:sched_process_exec", "sched:sched_process_exit"};

// Those that make sense in a buffer which is gone with the recording.
constexpr std::string_view kRecordActions[] = {"stacktrace", "traceon", "traceoff", "enable_event",
                                               "disable_event"};

// "enable_event EVENT", as 'gpufs trigger' takes it, in the kernel's form: "enable_event:EVENT".
std::string in_kernels_form(std::string text) {
    const auto space = text.find(' ');
    const auto next = text.find_first_not_of(' ', space);
    if (next != text.npos && std::string_view(text).substr(0, space).ends_with("_event") &&
        text.compare(next, 3, "if ") != 0)
        text.replace(space, next - space, ":");
    return text;
}

bool switches_buffer(const Trigger& trigger) {
    return trigger.action == "traceon" || trigger.action == "traceoff";
}

// None of the events is what the condition is about. Where all lack the field, it is not the first
// event's mistake.
[[noreturn]] void throw_complaint(Events& known, const std::vector<std::string>& events,
                                  const Expression& condition, const SourceError& first) {
    const Span at = first.at();
    const std::string field = condition.source.text.substr(at.begin, at.end - at.begin);
    const auto names = fields_of(condition);
    if (events.size() == 1 || std::ranges::count(names, field) == 0 ||
        std::ranges::any_of(events, [&](const std::string& event) {
            return known.require(event).find(field) != nullptr;
        }))
        throw first;
    throw SourceError(
        condition.source, at,
        cat("none of the ", events.size(), " events to be recorded has a field '", field, "'"),
        "name one that has it with -e; 'gpufs list -v EVENT' shows an event's fields");
}

// The trigger on each event against which its condition checks. Throws UsageError when there is
// none.
void put_on(Events& known, const Trigger& trigger, const Expression* condition,
            const std::vector<std::string>& events, std::vector<TriggerOn>& triggers) {
    const std::size_t before = triggers.size();
    std::optional<SourceError> complaint;
    for (const std::string& event : events) {
        TriggerOn on{event, trigger};
        if (condition) {
            const EventFormat& format = known.require(event);
            try {
                check_expression(*condition, format);
            } catch (const SourceError& e) {
                if (!complaint) complaint = e;
                continue;
            }
            on.trigger.condition = to_filter(*condition, format);
        }
        triggers.push_back(std::move(on));
    }
    if (triggers.size() == before && complaint)
        throw_complaint(known, events, *condition, *complaint);
}

}  // namespace

RecordTrigger parse_record_trigger(const std::string& text) {
    RecordTrigger parsed{parse_trigger(in_kernels_form(text)), std::nullopt};
    Trigger& trigger = parsed.trigger;
    check_trigger(trigger, kRecordActions);
    if (trigger.action == "snapshot")
        throw UsageError("a snapshot would be gone with the recording's buffer",
                         "--ring with --trigger traceoff keeps what led to an event");
    if (trigger.is_hist())
        throw UsageError("a histogram would be gone with the recording's buffer",
                         "'gpufs count' and 'gpufs hist' count events, over recordings, too");
    if (!trigger.condition.empty())
        parsed.condition = parse_expression({"--trigger", std::exchange(trigger.condition, {})});
    return parsed;
}

std::vector<std::string> gpu_timeline_events(const Tracefs& top) {
    std::vector<std::string> events;
    bool has_gpu = false;
    for (const std::string& event : top.events()) {
        const bool is_gpu = is_gpu_event(event) &&
                            std::ranges::none_of(kRegisterEvents, [&](std::string_view glob) {
                                return glob_match(glob, event);
                            });
        has_gpu = has_gpu || is_gpu;
        // Two drivers may register the same name.
        if ((is_gpu || std::ranges::count(kTaskEvents, event) > 0) &&
            std::ranges::count(events, event) == 0)
            events.push_back(event);
    }
    if (!has_gpu)
        throw UnsupportedError("no GPU driver has events in this kernel now",
                               "a driver that is a module has them once it is loaded");
    return events;
}

RecordSession::Resolved RecordSession::resolve(const Tracefs& top, const RecordRequest& request) {
    Resolved resolved;
    std::vector<std::string> words = request.events;
    if (request.gpu)
        for (std::string& event : gpu_timeline_events(top)) words.push_back(std::move(event));
    Events known = kernel_events(top);
    resolved.events = known.match(words);

    const std::optional<Expression>& common = request.condition;
    bool is_filter = common.has_value();
    for (const auto& [asked, own] : request.triggers) {
        const Trigger trigger = resolve_trigger(top, asked);
        if (!own && switches_buffer(trigger)) is_filter = false;
        const std::optional<Expression>& condition = own ? own : common;
        put_on(known, trigger, condition ? &*condition : nullptr, resolved.events,
               resolved.triggers);
    }
    if (is_filter) {
        resolved.filtered = known.match(resolved.events, *common);
        resolved.filter = common;
    }
    return resolved;
}

RecordSession::RecordSession(const Tracefs& top, const RecordRequest& request)
    : request_(resolve(top, request)), scratch_(top) {
    const Session session = Session::of(scratch_);
    stop();
    plan_settings(session, request.settings).changes.apply();
    // Which process a thread is of, Linux 4.13 and later keep in saved_tgids.
    if (tracefs().has("options/record-tgid"))
        tracefs().write("options/record-tgid", "1\n", Write::replace);
    if (request_.filter)
        plan_filter(session, request_.filtered, *request_.filter, true).changes.apply();
    else
        plan_record_all(session, request_.events).changes.apply();
    std::set<std::string> actions;
    // One by one: each is put in order with those that are there.
    for (const TriggerOn& on : request_.triggers) {
        if (actions.insert(on.trigger.action).second)
            require_trigger_action(session, on.trigger.action);
        plan_triggers(session, {on}, false).changes.apply();
    }
    for (const TriggerOn& on : request_.triggers) {
        const std::string& switched = on.trigger.argument;
        if (!switched.empty() && std::ranges::count(request_.events, switched) == 0)
            request_.events.push_back(switched);
    }
}

bool RecordSession::has_trigger(std::string_view action) const {
    return std::ranges::any_of(request_.triggers,
                               [&](const TriggerOn& on) { return on.trigger.action == action; });
}

void RecordSession::start() {
    if (has_trigger("traceon")) return;
    tracefs().write("tracing_on", "1\n", Write::replace);
    if (!std::exchange(has_begun_, true)) restore_counts();
}

// While the buffer is off, the kernel counts what triggers would do, except for the switches.
void RecordSession::restore_counts() const {
    for (const auto& [event, trigger] : request_.triggers) {
        if (!trigger.count || switches_buffer(trigger)) continue;
        const std::string file = event_directory(event) + "/trigger";
        tracefs().write(file, trigger.removal() + '\n', Write::append);
        tracefs().write(file, trigger.to_text() + '\n', Write::append);
    }
}

void RecordSession::stop() const {
    tracefs().write("tracing_on", "0\n", Write::replace);
}

bool RecordSession::is_on() const {
    return tracefs().read("tracing_on") == "1\n";
}

}  // namespace gpufs
