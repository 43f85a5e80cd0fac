#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "lang/adhoc/adhoc.h"

namespace gpufs {

// In front of a name: of the start, also where the end has such a field.
inline constexpr std::string_view kOfStart = "start.";

// A value of a pair: behind `by`, or in the lines of slow ones.
struct ToldValue {
    AdhocWord name;   // "start.fd": the member's
    AdhocWord field;  // "fd": at the event
    bool is_of_start = false;
};

// Of the end where all of these know the name, else of the start. Absent where neither knows it.
std::optional<ToldValue> find_told_value(const AdhocWord& name, std::span<const AdhocEvent> starts,
                                         std::span<const AdhocEvent> ends);

// Whether the word is the id of the running thread at all these events.
bool means_running_thread(std::span<const AdhocEvent> events, const AdhocWord& word);

}  // namespace gpufs
