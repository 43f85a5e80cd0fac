#pragma once

#include "engine/trace/context.h"
#include "view/monitor/value_text.h"

namespace gpufs {

// Names for the addresses and times of a program that ran over a recording. User addresses have no
// names, because a recording does not contain mappings. Times are those of the recording. Keeps a
// reference to the context.
ValueNames recorded_names(TraceContext& context);

}  // namespace gpufs
