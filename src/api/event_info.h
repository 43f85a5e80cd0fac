#pragma once

#include "gpufs/event.h"
#include "lang/event/event_format.h"

namespace gpufs::api {

EventInfo info_of(const EventFormat& format);

}  // namespace gpufs::api
