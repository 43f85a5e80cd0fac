#pragma once

#include <memory>
#include <string>

#include "base/fd.h"
#include "engine/recording/record_source.h"

namespace gpufs {

// Reads text, as the kernel's file `trace` and trace-cmd report have it. A text does not have the
// formats of its events: EventText says where their fields are from. Besides the events that gpufs
// knows, those of this machine may be what the text has. Reads the file twice, from its begin on.
// Throws what TraceFile throws.
std::unique_ptr<RecordSource> open_text_recording(Fd file, const std::string& path);

}  // namespace gpufs
