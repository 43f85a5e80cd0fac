#pragma once

#include "lang/ir/ir.h"

namespace gpufs {

// Code that makes 64 evenly spread bits of several words: mixes one more into `hash`, a kU64 that
// begins with any value.
void append_mix(ir::Code& code, ir::Temp hash, ir::Operand word);

}  // namespace gpufs
