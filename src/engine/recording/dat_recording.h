#pragma once

#include <memory>
#include <string>

#include "base/fd.h"
#include "engine/recording/record_source.h"

namespace gpufs {

// Reads a trace.dat, of version 6 or 7. Throws what TraceFile throws.
std::unique_ptr<RecordSource> open_dat_recording(Fd file, const std::string& path);

}  // namespace gpufs
