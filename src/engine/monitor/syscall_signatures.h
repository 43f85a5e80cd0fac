#pragma once

#include <string>

#include "engine/trace/events.h"
#include "vm/program_map.h"

namespace gpufs {

// Fills a map of signatures (MapDeclaration::has_signatures): those of the calls that `wanted`
// names, a list of names and shell patterns with commas between; empty: of all. Calls without an
// event among `events` have an unknown_signature(). Throws UsageError for a name that is no call's.
void fill_signatures(ProgramMap& map, const std::string& wanted, Events& events);

}  // namespace gpufs
