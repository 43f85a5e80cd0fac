#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/elf/elf_file.h"

namespace gpufs {

// A stub of a procedure linkage table: the code by which a program calls a function of another
// file.
struct PltStub {
    std::uint64_t address = 0, bytes = 0;  // as linked
    std::string name;                      // of the function, without its version
};

// The stubs of a file for x86-64 or arm64, by address: those of .plt, .plt.sec and .plt.got. Empty
// for other machines.
std::vector<PltStub> plt_stubs(const ElfFile& file);

}  // namespace gpufs
