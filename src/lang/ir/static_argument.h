#pragma once

#include <vector>

#include "lang/ir/ir.h"
#include "lang/program/static_argument.h"

namespace gpufs {

// The value of an argument of a static probe, extended to 64 bits by its sign; `context` is the
// struct pt_regs of the probe's place. 0 where the process's memory cannot be read, and for an
// argument of an unknown form.
ir::Temp append_static_argument(ir::Code& code, ir::Temp context, const StaticArgument& argument);

// The same as a function of the context.
std::vector<CodeItem> static_argument_function(const StaticArgument& argument, const SourceRef& at);

}  // namespace gpufs
