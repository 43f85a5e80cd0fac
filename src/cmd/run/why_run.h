#pragma once

#include <vector>

#include "cmd/run/run_program.h"
#include "cmd/shared/command.h"

namespace gpufs {

// Tells where the time of processes goes: of `pids`, of the choices' COMMAND with all that it
// starts, or of processes of a recording; each interval, and at the end. Of the choices those count
// that are not about what a Program is. Returns what Command::run returns.
int run_why(Context& ctx, const std::vector<int>& pids, const RunChoices& choices);

}  // namespace gpufs
