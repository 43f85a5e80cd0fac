#include "engine/trace/wanted_records.h"

#include <algorithm>

#include "base/error.h"
#include "lang/event/field_value.h"

namespace gpufs {

WantedRecords::WantedRecords(const KnownEvents& known, TraceContext& context,
                             const std::vector<std::string>& events,
                             std::optional<Expression> condition)
    : context_(context), events_(events), condition_(std::move(condition)) {
    if (!events_.empty()) events_ = match_events(known, events_);
    if (!condition_) return;
    // Whoever names the events wants to hear what is wrong with the condition for each of them.
    for (const std::string& event : events_)
        check_expression(*condition_, load_event_format(known, event));
    if (events_.empty() && !fields_of(*condition_).empty()) events_for(known, *condition_);
}

bool WantedRecords::is_stack(int id) {
    return decide(id).is_stack;
}

WantedRecords::Decision& WantedRecords::decide(int id) {
    if (const auto known = decisions_.find(id); known != decisions_.end()) return known->second;
    Decision decision;
    if (const CatalogEvent* event = context_.events.find(id)) {
        const EventFormat& format = event->format;
        decision.is_stack = format.system == "ftrace" &&
                            (format.name == "kernel_stack" || format.name == "user_stack");
        decision.is_wanted = events_.empty() || std::ranges::count(events_, format.full_name()) > 0;
        if (condition_ && decision.is_wanted && !decision.is_stack) {
            try {
                decision.condition.emplace(*condition_, format);
            } catch (const SourceError&) {
                decision.is_wanted = false;  // the event has no such field
            }
        }
    } else {
        decision.is_wanted = events_.empty() && !condition_;
    }
    return decisions_.emplace(id, std::move(decision)).first->second;
}

bool WantedRecords::wants(const TraceRecord& record) {
    const std::size_t stream = record.stream;
    if (stream >= last_was_wanted_.size()) last_was_wanted_.resize(stream + 1);
    Decision& decision = decide(record.id());
    if (decision.is_stack) return last_was_wanted_[stream] || (events_.empty() && !condition_);
    bool wanted = decision.is_wanted;
    if (wanted && decision.condition) {
        const CatalogEvent* event = context_.events.find(record.id());
        const Field* pid = event->format.find("common_pid");
        const int task = pid ? static_cast<int>(integer_of(*pid, record.bytes)) : 0;
        wanted = decision.condition->holds(record.bytes, {record.cpu, context_.tasks.comm(task)});
    }
    last_was_wanted_[stream] = wanted;
    return wanted;
}

}  // namespace gpufs
