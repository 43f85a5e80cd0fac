#pragma once

#include <cstdint>
#include <string>

#include "lang/insn/disasm.h"

namespace gpufs {

// The text of a loaded program, as rewritten by the kernel; it assembles to the same bytes.
// Comments give the program's name and type and the names of its maps and of the kernel functions
// that it calls. Throws SysError, UnsupportedError.
std::string loaded_program_text(std::uint32_t id, DisasmOptions options = {});

}  // namespace gpufs
