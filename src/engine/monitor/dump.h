#pragma once

#include <cstdint>
#include <string>

#include "lang/insn/disasm.h"

namespace gpufs {

// The text of a program that the kernel holds, as the kernel rewrote it; it assembles to the same
// bytes. Comments tell the program's name and type, and name its maps and the kernel's functions
// that it calls. Throws SysError, UnsupportedError.
std::string loaded_program_text(std::uint32_t id, DisasmOptions options = {});

}  // namespace gpufs
