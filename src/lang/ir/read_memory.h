#pragma once

#include "lang/ir/ir.h"
#include "lang/program/types.h"

namespace gpufs {

// Copies `bytes` from the address `from` to the memory at `to`. The result is 0, or negative where
// the memory cannot be read: then `to` has zeros.
ir::Temp append_read(ir::Code& code, Space space, ir::Temp to, ir::Operand bytes, ir::Operand from);
// Copies a text with its NUL, cut to `bytes`. The result is its length with the NUL, or negative.
ir::Temp append_read_text(ir::Code& code, Space space, ir::Temp to, ir::Operand bytes,
                          ir::Operand from);

}  // namespace gpufs
