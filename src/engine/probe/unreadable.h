#pragma once

#include <functional>
#include <string>

#include "base/source.h"
#include "engine/probe/code_spots.h"
#include "engine/probe/program_object.h"
#include "engine/symbols/debug_info.h"
#include "lang/probe/variable_path.h"

namespace gpufs {

// "sched.c:412", or the address where the file has no lines.
std::string spot_text(DebugInfo& info, const CodeSpot& spot);

// Reads at another spot what is unreadable at this one; throws Unreadable.
using ReadsAt = std::function<void(const CodeSpot& spot)>;

// Says, as a SourceError at the part of the path, why it cannot be read at a spot, and what to do:
// the nearest line where it can be read, if another may be better.
[[noreturn]] void refuse_variable(DebugInfo& info, const SourceText& source,
                                  const VariablePath& path, const CodeSpot& spot,
                                  const Unreadable& why, const ReadsAt& reads_at);

}  // namespace gpufs
