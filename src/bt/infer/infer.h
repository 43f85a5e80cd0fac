#pragma once

#include "base/diagnostics.h"
#include "bt/syntax/ast.h"
#include "bt/types/c_types.h"
#include "bt/types/typed.h"
#include "bt/types/world.h"

namespace gpufs::bt {

// Splits probes into instances, finds out what each name means and which type each expression has.
// Adds all mistakes to `mistakes`; the result is then of no use.
Typed infer_types(const Script& script, World& world, const TypeTable& table,
                  const TypeOptions& options, Diagnostics& mistakes);

}  // namespace gpufs::bt
