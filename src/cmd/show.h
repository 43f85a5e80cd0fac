#pragma once

#include <optional>
#include <vector>

#include "cmd/shared/command.h"
#include "engine/session/session.h"
#include "engine/trace/pairs.h"

namespace gpufs {

// Prints what a session's buffer holds, as `gpufs show` does: all of it, or the last events with
// their stacks. For JSON, takes the records out of the buffer where the kernel gives their fields
// in no other way, and says so.
void print_buffer(Context& ctx, const Session& session, std::optional<unsigned long> last,
                  bool json);

// Prints which pairs of records took longest, each with the record that begins it. Reads the buffer
// once for all of them; where the kernel cannot map it, the records are gone then.
void print_longest(Context& ctx, const Session& session,
                   const std::vector<RecordPairs::Wanted>& wanted, bool json);

}  // namespace gpufs
