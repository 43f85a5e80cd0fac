#include "engine/recording/wanted_records.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/sorted.h"
#include "base/text.h"
#include "base/units.h"
#include "lang/event/field_value.h"

namespace gpufs {

WantedRecords::WantedRecords(TraceContext& context, RecordChoice choice)
    : context_(context), choice_(std::move(choice)) {
    Events& known = context_.events;
    sort_unique(choice_.pids);
    seen_pids_.resize(choice_.pids.size());
    if (!choice_.events.empty()) choice_.events = known.match(choice_.events);
    if (!choice_.condition) return;
    // Whoever names the events wants to hear what is wrong with the condition for each of them.
    for (const std::string& event : choice_.events)
        check_expression(*choice_.condition, known.require(event));
    if (choice_.events.empty() && !fields_of(*choice_.condition).empty())
        known.with_fields_of(*choice_.condition);
}

WantedRecords::WantedRecords(TraceFile& file, RecordChoice choice)
    : WantedRecords(file.context(), std::move(choice)) {
    const std::vector<int> there = file.cpus();
    for (const unsigned cpu : choice_.cpus)
        if (!std::ranges::count(there, static_cast<int>(cpu)))
            throw UsageError(cat("the recording has no CPU ", cpu),
                             cat("it has ", cpu_list_to_text({there.begin(), there.end()})));
    file.rewind(choice_.cpus, choice_.looks_around ? 0 : choice_.from);
    file_ = &file;
}

WantedRecords::Decision WantedRecords::decide(int id) {
    Decision decision;
    const TraceEvent* const event = context_.events.find(id);
    if (!event) {
        decision.is_wanted = choice_.events.empty() && !choice_.condition;
        return decision;
    }
    const EventFormat& format = event->format;
    decision.is_stack = stack_field(format).field != nullptr;
    decision.is_wanted =
        choice_.events.empty() || std::ranges::count(choice_.events, format.full_name()) > 0;
    if (!choice_.condition || !decision.is_wanted || decision.is_stack) return decision;
    try {
        decision.condition.emplace(*choice_.condition, format);
        decision.needs_comm = decision.condition->needs_comm();
    } catch (const SourceError&) {
        decision.is_wanted = false;  // the event has no such field
    }
    return decision;
}

LossLedger WantedRecords::losses() const {
    Loss lost;
    for (const Stream& stream : streams_) lost += all_lost(stream);
    const std::string places = gaps_ == 0 ? "" : cat(", in ", counted(gaps_, "place"));
    return {{cat("events that the recording lost", places), lost}};
}

Loss WantedRecords::lost_on(int cpu) const {
    Loss lost;
    for (const Stream& stream : streams_)
        if (stream.cpu == cpu) lost += all_lost(stream);
    return lost;
}

Loss WantedRecords::all_lost(const Stream& stream) const {
    if (!file_ || !has_ended_ || choice_.from != 0) return stream.all_lost;
    return file_->lost_in(static_cast<std::size_t>(&stream - streams_.data()), stream.all_lost);
}

std::vector<int> WantedRecords::missing_pids() const {
    std::vector<int> missing;
    for (std::size_t i = 0; i < seen_pids_.size(); ++i)
        if (!seen_pids_[i]) missing.push_back(choice_.pids[i]);
    return missing;
}

bool WantedRecords::wants(const TraceRecord& record, Stream& stream) {
    if (record.timestamp < choice_.from) return false;
    has_reached_range_ = true;
    if (!choice_.cpus.empty() &&
        std::ranges::count(choice_.cpus, static_cast<unsigned>(record.cpu)) == 0)
        return false;
    const CommonFields common = common_fields(record.bytes);
    if (!choice_.pids.empty()) {
        const auto asked = std::ranges::find(choice_.pids, common.pid);
        if (asked == choice_.pids.end()) return false;
        seen_pids_[static_cast<std::size_t>(asked - choice_.pids.begin())] = true;
    }
    const Decision& about = decision(record.id());
    if (about.is_stack) {
        const bool* const is_wanted = stream.events.find(common);
        return (is_wanted && *is_wanted) || (choice_.events.empty() && !choice_.condition);
    }
    const bool is_wanted = about.is_wanted && holds(about, record, common.pid);
    stream.events.open(common, is_wanted);
    return is_wanted;
}

bool WantedRecords::holds(const Decision& about, const TraceRecord& record, int pid) const {
    if (!about.condition) return true;
    RecordContext context{record.cpu, {}};
    if (about.needs_comm) context.comm = context_.tasks.comm(pid);
    return about.condition->holds(record.bytes, context);
}

const TraceRecord* WantedRecords::take(const TraceRecord& record) {
    if (record.stream >= streams_.size()) streams_.resize(record.stream + 1);
    Stream& stream = streams_[record.stream];
    stream.cpu = record.cpu;
    if (!record.lost_before.is_zero()) {
        ++gaps_;
        stream.lost += record.lost_before;
        stream.all_lost += record.lost_before;
        stream.events.close_all();
    }
    if (!wants(record, stream)) return nullptr;
    const Loss lost = std::exchange(stream.lost, {});
    if (lost == record.lost_before) return &record;
    told_ = record;
    told_.lost_before = lost;
    return &told_;
}

}  // namespace gpufs
