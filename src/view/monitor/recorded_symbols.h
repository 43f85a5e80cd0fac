#pragma once

#include "engine/trace/context.h"
#include "view/monitor/value_text.h"

namespace gpufs {

// What the addresses and times mean that a program counted and sent over a recording. Addresses of
// processes have no names: a recording does not tell what they had mapped. Times are shown as the
// recording has them. Borrows the context.
ValueNames recorded_names(TraceContext& context);

}  // namespace gpufs
