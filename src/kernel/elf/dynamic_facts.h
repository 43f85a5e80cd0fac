#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/elf/elf_file.h"

namespace gpufs {

// What a program or library tells the dynamic loader (ld.so(8)). All is empty for a static program.
struct DynamicFacts {
    bool is_pie = false;   // a program that may be loaded to any address
    std::string own_name;  // of a library (DT_SONAME)
    std::vector<std::string> needed;
    // Where to look for these first, folders separated by ':' (DT_RUNPATH or DT_RPATH).
    std::string library_path;
    std::string interpreter;  // the loader's path (PT_INTERP)
};
DynamicFacts dynamic_facts(const ElfFile& file);

// The first segment of a type; absent if there is none.
std::optional<GElf_Phdr> find_segment(const ElfFile& file, GElf_Word type);

}  // namespace gpufs
