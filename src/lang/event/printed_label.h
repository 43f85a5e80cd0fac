#pragma once

#include <string>
#include <string_view>

#include "lang/event/event_format.h"

namespace gpufs {

// The field that the event's text shows behind a label: drm_sched_job prints its field `name` as
// "ring=gfx". Empty where none is shown so.
std::string field_printed_as(const EventFormat& event, std::string_view label);

}  // namespace gpufs
