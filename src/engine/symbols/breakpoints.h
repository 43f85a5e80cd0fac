#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/symbols/code_files.h"
#include "kernel/elf/elf_symbols.h"

namespace gpufs {

// A uprobe writes a breakpoint over the first byte of an instruction. The kernel takes other
// places, too, and what is written there is a part of another instruction, which then does
// something else.

// Why none is to be set so many bytes into a function of the file: it is behind its end, or inside
// of an instruction. Absent where it may be set, and where the code is not understood: of other
// machines than x86-64 and arm64, and behind data.
std::optional<Absent> why_no_breakpoint(const std::string& path, const ElfFunction& function,
                                        std::uint64_t offset);
// The same for a place by its offset in the file: in a function, if a symbol tells of one.
std::optional<Absent> why_no_breakpoint_at(const std::string& path, std::uint64_t file_offset);

}  // namespace gpufs
