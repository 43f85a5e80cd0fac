#include "lang/adhoc/told_value.h"

#include <algorithm>

#include "lang/adhoc/value.h"

namespace gpufs {
namespace {

bool know(std::span<const AdhocEvent> events, const AdhocWord& name) {
    return std::ranges::all_of(
        events, [&](const AdhocEvent& event) { return find_value(event, name.text).has_value(); });
}

}  // namespace

std::optional<ToldValue> find_told_value(const AdhocWord& name, std::span<const AdhocEvent> starts,
                                         std::span<const AdhocEvent> ends) {
    ToldValue told{name, name};
    if (name.text.starts_with(kOfStart)) {
        told.field.text.erase(0, kOfStart.size());
        told.is_of_start = true;
    } else if (!know(ends, name)) {
        if (!know(starts, name)) return std::nullopt;
        told.is_of_start = true;
    }
    return told;
}

bool means_running_thread(std::span<const AdhocEvent> events, const AdhocWord& word) {
    return std::ranges::all_of(events, [&](const AdhocEvent& event) {
        const auto value = find_value(event, word.text);
        return value && value->source == AdhocValue::Source::tid;
    });
}

}  // namespace gpufs
