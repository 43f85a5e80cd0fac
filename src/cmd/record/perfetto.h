#pragma once

#include "cmd/shared/command.h"
#include "cmd/shared/run_loop.h"
#include "engine/recorder/session.h"

namespace gpufs {

// Writes what the session records as a trace of Perfetto, while it is recorded: until the loop is
// over, or a trigger has stopped the buffer for good. What is written is flushed each second, so a
// file whose writer is killed opens up to there. Returns what was lost.
LossLedger record_perfetto(Context& ctx, RunLoop& loop, RecordSession& session, Output& out);

}  // namespace gpufs
