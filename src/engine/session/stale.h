#pragma once

#include <string>
#include <vector>

#include "engine/session/run_mark.h"
#include "kernel/tracefs/tracefs.h"

namespace gpufs {

// Removes what dead owners left behind: their instances (scratch_instance.h), the dynamic probes of
// gpufs' groups and the synthetic events whose instance is gone, and what they recorded into
// sessions (run_mark.h). Returns
// what was removed, one line each. Does not touch other instances that no ScratchInstance can have
// made, or of living owners. Does nothing without permission. Stale::told: only returns what there
// is; what somebody uses whom /proc does not show is told, too.
std::vector<std::string> remove_stale(const Tracefs& top, Stale what = Stale::removed);

}  // namespace gpufs
