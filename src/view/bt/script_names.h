#pragma once

#include <memory>

#include "engine/recording/file.h"
#include "engine/results/running_program.h"
#include "engine/symbols/symbols.h"
#include "view/bt/value_names.h"

namespace gpufs {

// The names of a script's values: of this machine, or of a recording, which knows no process's code
// and no users.
using ScriptNames = bt::ValueNames;

// Borrow all that they are given.
std::unique_ptr<ScriptNames> live_script_names(Symbols& symbols, const RunningProgram& running);
std::unique_ptr<ScriptNames> recorded_script_names(TraceContext& context,
                                                   const RunningProgram& running);

}  // namespace gpufs
