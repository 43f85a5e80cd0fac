#pragma once

#include "engine/trace/events.h"
#include "kernel/tracefs/tracefs.h"

namespace gpufs {

// The events of a tracefs directory: this kernel's, or those of a captured tree in a test. An
// instance lists no events: give the top directory.
Events kernel_events(const Tracefs& top);

}  // namespace gpufs
