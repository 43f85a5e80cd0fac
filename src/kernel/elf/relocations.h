#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "kernel/elf/elf_file.h"

namespace gpufs {

// An address that the dynamic loader writes (Elf64_Rela).
struct DynamicRelocation {
    std::uint64_t address;  // as linked, of what is written
    unsigned type;          // R_X86_64_JUMP_SLOT, …: of the file's machine
    std::int64_t addend;
    bool has_symbol;
    GElf_Sym symbol;        // zeros where there is none, or it cannot be read
    std::string_view name;  // of the symbol, or ""
};

// Calls visit for each dynamic relocation until it returns false.
void for_each_relocation(const ElfFile& file,
                         const std::function<bool(const DynamicRelocation&)>& visit);

}  // namespace gpufs
