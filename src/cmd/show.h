#pragma once

#include <optional>
#include <vector>

#include "cmd/shared/command.h"
#include "engine/session/session.h"
#include "engine/trace/pairs.h"

namespace gpufs {

// How records are printed.
struct ShowForm {
    bool json = false;
    Controls controls = Controls::escaped;
};

// Prints the contents of a session's buffer, as `gpufs show` does: all of it, or the last events
// with their stacks. JSON consumes the records, and says so, if the kernel offers no other way to
// get their fields.
void print_buffer(Context& ctx, const Session& session, std::optional<unsigned long> last,
                  const ShowForm& form);

// Prints the pairs of records that took longest, each with the record that begins it. Reads the
// buffer only once; if the kernel cannot map it, this consumes the records.
void print_longest(Context& ctx, const Session& session,
                   const std::vector<RecordPairs::Wanted>& wanted, const ShowForm& form);

}  // namespace gpufs
