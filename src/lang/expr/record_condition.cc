#include "lang/expr/record_condition.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace gpufs {
namespace {

// Describes a record as an event format, because Condition reads events.
EventFormat as_event(const Program& program, const RecordLayout& record) {
    EventFormat event;
    event.system = program.name;
    event.name = record.name;
    for (const Member& member : record.layout.members) {
        Field field;
        field.name = member.name;
        field.offset = member.offset;
        field.size = member.type.bytes;
        field.is_string = member.type.kind == ValueType::Kind::text;
        field.is_array = field.is_string || member.type.kind == ValueType::Kind::raw_bytes;
        field.type = field.is_string ? "char" : "u64";
        field.element_size = field.is_array ? 1 : member.type.bytes;
        field.is_signed = member.type.is_signed;
        event.fields.push_back(std::move(field));
    }
    return event;
}

bool have_same_members(const RecordLayout& a, const RecordLayout& b) {
    return std::ranges::equal(a.layout.members, b.layout.members, {}, &Member::name, &Member::name);
}

bool is_judged(const Program& program, const RecordLayout& record) {
    return std::ranges::any_of(program.records, [&](const RecordLayout& other) {
        return other.is_for_freeze() && have_same_members(other, record);
    });
}

}  // namespace

RecordCondition::RecordCondition(const Program& program, const Expression& expression) {
    std::optional<SourceError> mistake;
    for (const RecordLayout& record : program.records) {
        if (!is_judged(program, record)) continue;
        try {
            conditions_.emplace(&record, Condition(expression, as_event(program, record)));
        } catch (const SourceError& e) {
            if (!mistake) mistake = e;
        }
    }
    if (!conditions_.empty()) return;
    if (!mistake)
        throw UsageError(cat("'", program.name, "' sends nothing that --freeze-on could look at"),
                         "drm, fence and vblank do; in files of your own a record whose action is "
                         "freeze");
    throw SourceError(*mistake);
}

bool RecordCondition::holds(const RecordLayout& layout, std::span<const std::byte> record) const {
    const auto it = conditions_.find(&layout);
    return it != conditions_.end() && it->second.holds(record, {});
}

}  // namespace gpufs
