#pragma once

#include <memory>

#include "kernel/elf/elf_file.h"

namespace gpufs {

// The ELF file that a stripped program or library has within itself, compressed by xz in the
// section .gnu_debugdata ("MiniDebugInfo"): its .symtab has the functions that .dynsym does not
// have. Null where there is none, or none that can be uncompressed.
std::unique_ptr<ElfFile> open_mini_debug_info(const ElfFile& of);

}  // namespace gpufs
