#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// Where a program or a library has its functions and its static probes, as offsets in the file:
// what uprobes take. Failures are thrown: SysError where the file cannot be read, Error where it is
// no ELF program or library.

struct ElfFunction {
    std::string name;  // without its version ("@@GLIBC_2.34")
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    // Its code only chooses the function (STT_GNU_IFUNC): a probe there sees one call, at start.
    bool is_indirect = false;
};

// The functions whose names match a shell pattern (or are it), by offset; several names of one
// place are all there. Looks into the symbol tables of the file and, where it is stripped, of its
// separate debug file: by build id below /usr/lib/debug/.build-id, by name (.gnu_debuglink) next to
// the file, in .debug and below /usr/lib/debug. A debug file of another build is not taken.
std::vector<ElfFunction> find_functions(const std::string& path, std::string_view pattern);

// A static probe (USDT), from the file's .note.stapsdt.
struct UsdtProbe {
    std::string provider;
    std::string name;
    std::string arguments;  // "-4@%edi 8@-16(%rbp)", as the compiler wrote it; for lang to read
    std::uint64_t offset = 0;
    std::uint64_t semaphore_offset = 0;  // of its counter of listeners; 0: it has none
};

// The probes whose provider and name match these shell patterns, in the file's order. One probe may
// be in several places.
std::vector<UsdtProbe> find_usdt_probes(const std::string& path, std::string_view provider,
                                        std::string_view name);

}  // namespace gpufs
