#pragma once

#include <cstddef>

#include "lang/ir/ir.h"
#include "lang/program/types.h"

namespace gpufs {

// Copies `bytes` from the address `from` to the memory at `to`. The result is 0, or negative where
// the memory cannot be read: then `to` has zeros.
ir::Temp append_read(ir::Code& code, Space space, ir::Temp to, ir::Operand bytes, ir::Operand from);
// Copies a text with its NUL, cut to `bytes`. The result is its length with the NUL, or negative.
ir::Temp append_read_text(ir::Code& code, Space space, ir::Temp to, ir::Operand bytes,
                          ir::Operand from);
// Goes on where append_read_text() cut the text at `from` to `bytes`, as its result `length` says;
// else jumps to `whole`.
void append_unless_cut(ir::Code& code, Space space, ir::Temp length, std::size_t bytes,
                       ir::Temp from, ir::Label whole);

}  // namespace gpufs
