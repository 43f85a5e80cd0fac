#pragma once

#include <string>

#include "view/export/stack_profile.h"

namespace gpufs {

// Files of counted stacks.

// One line a stack, the outermost frame first: "comm;main;read;vfs_read_[k] 12".
std::string folded_stacks(const StackProfile& profile);
// speedscope's JSON: a profile for each event.
std::string speedscope_json(const StackProfile& profile, const std::string& exporter);
// The profile.proto of pprof, packed by gzip. A sample has the labels event, comm and tid.
std::string pprof_bytes(const StackProfile& profile, bool clock_is_ns);

}  // namespace gpufs
