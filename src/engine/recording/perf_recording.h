#pragma once

#include <memory>
#include <string>

#include "base/fd.h"
#include "engine/recording/record_source.h"

namespace gpufs {

// Reads a perf.data, of a file or of a pipe, compressed or not. A tracepoint's sample is the record
// that the tracer made; its stacks come behind it as the tracer's records of stacks do. A sample of
// another event is a record "perf:NAME" with its place and period. Throws what TraceFile throws.
std::unique_ptr<RecordSource> open_perf_recording(Fd file, const std::string& path);

}  // namespace gpufs
