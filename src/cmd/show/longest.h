#pragma once

#include <vector>

#include "cmd/show/buffer.h"
#include "engine/trace/pairs.h"

namespace gpufs {

// Prints the pairs of records that took longest, each with the record that begins it. Reads the
// buffer only once; if the kernel cannot map it, this consumes the records.
void print_longest(Context& ctx, const Session& session,
                   const std::vector<RecordPairs::Wanted>& wanted, const ShowForm& form);

}  // namespace gpufs
