#include "gpufs/recording.h"

#include "api/event_info.h"
#include "api/rows.h"
#include "base/cat.h"
#include "base/text.h"
#include "engine/recording/file.h"
#include "engine/recording/wanted_records.h"
#include "lang/event/field_value.h"
#include "view/trace/json.h"
#include "view/trace/trace_cmd_text.h"

namespace gpufs::api {

struct RecordingState {
    explicit RecordingState(const std::string& path)
        : file(path), text(file.context()), event(*this) {}

    const TraceEvent* type() { return file.context().events.find(record->id()); }
    // Rewinds the file where it has not begun.
    WantedRecords& begin() {
        if (!wanted) wanted.emplace(file, choice);
        return *wanted;
    }

    TraceFile file;
    TraceCmdText text;
    RecordChoice choice;
    std::optional<WantedRecords> wanted;
    const TraceRecord* record = nullptr;
    Event event;
    std::string name;  // of the event at hand
};

namespace {

Value value_of(const Field& field, RecordBytes record) {
    if (field.holds_text()) return std::string(text_of(field, record));
    if (!field.is_array && !field.is_dynamic() && field.size <= sizeof(std::uint64_t)) {
        const std::uint64_t number = integer_of(field, record);
        if (field.is_signed) return static_cast<std::int64_t>(number);
        return number;
    }
    std::string text;
    append_json_value(text, field, record);
    return text;
}

}  // namespace

std::string_view Event::name() const {
    return state_.name;
}

std::uint64_t Event::time_ns() const {
    return state_.record->timestamp;
}

int Event::cpu() const {
    return state_.record->cpu;
}

int Event::pid() const {
    return common_fields(state_.record->bytes).pid;
}

std::string_view Event::comm() const {
    return state_.file.context().tasks.comm(pid());
}

Members Event::fields() const {
    Members members;
    if (const TraceEvent* type = state_.type())
        for (const Field& field : type->format.fields)
            if (!field.is_common)
                members.emplace_back(field.name, value_of(field, state_.record->bytes));
    return members;
}

std::optional<Value> Event::field(std::string_view name) const {
    const TraceEvent* type = state_.type();
    const Field* field = type ? type->format.find(name) : nullptr;
    if (!field) return {};
    return value_of(*field, state_.record->bytes);
}

std::string Event::to_text() const {
    std::string text;
    TraceRecord alone = *state_.record;
    alone.lost_before = {};
    state_.text.print(alone, {}, text);
    return std::string(trim(text));
}

Recording::Recording(const std::string& path) : state_(std::make_unique<RecordingState>(path)) {}
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;
Recording::~Recording() = default;

const Event* Recording::next() {
    state_->record = state_->begin().next(state_->file);
    if (!state_->record) return nullptr;
    const TraceEvent* type = state_->type();
    state_->name = type ? type->format.full_name() : cat("event ", state_->record->id());
    return &state_->event;
}

void Recording::rewind() {
    state_->wanted.reset();
}

void Recording::only_if(const std::string& expression) {
    state_->choice.condition = parse_expression({"condition", expression});
    rewind();
}

std::vector<EventInfo> Recording::events() const {
    std::vector<EventInfo> all;
    Events& events = state_->file.context().events;
    for (const std::string& name : events.names())
        if (const EventFormat* format = events.find_format(name)) all.push_back(info_of(*format));
    return all;
}

std::vector<Loss> Recording::losses() const {
    LossLedger all = state_->begin().losses();
    for (const std::string& what : state_->file.damage()) all.add(what, gpufs::Loss::exactly(1));
    return losses_of(all);
}

}  // namespace gpufs::api
