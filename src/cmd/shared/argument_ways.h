#pragma once

#include <string>
#include <vector>

#include "base/printable.h"
#include "engine/probe/source_events.h"

namespace gpufs {

// How arguments are read, for --explain: a table, with a column for programs where these read some.
std::string ways_table(const std::vector<ArgumentWay>& ways, Controls controls);

}  // namespace gpufs
