#pragma once

#include <string>
#include <string_view>

#include "lang/event/event_format.h"

namespace gpufs {

// The field whose value an event's "print fmt" shows behind "WORD=", where the kernel gave it
// another name there than in the record: "ring" of "ring_name=%s". Empty: none.
std::string field_shown_as(const EventFormat& event, std::string_view word);

}  // namespace gpufs
