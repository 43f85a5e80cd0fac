#pragma once

#include <vector>

#include "lang/program/program.h"

namespace gpufs {

// One Program that does what all of these do: they send through one ring, so that their records
// have one order, and load and end together. One alone stays as it is.
//
// What programs got from a text that they include is there once, and keeps its name: of a parameter
// in it all take the same value. Whatever else has a name is called after its program:
// "drm.min_us". The order is theirs.
//
// Throws UsageError where two have one name, where included texts differ, and where the kernel
// would not take their licences together.
Program merge_programs(std::vector<Program> programs);

}  // namespace gpufs
