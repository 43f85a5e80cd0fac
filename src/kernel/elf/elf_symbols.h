#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/elf/elf_file.h"

namespace gpufs {

// Functions and variables of a program or library, as its symbol tables have them, with the file
// offsets that uprobes take. All functions throw SysError if the file cannot be read, Error if it
// is not an ELF program or library.

struct ElfFunction {
    std::string name;     // without its version
    std::string version;  // "@@GLIBC_2.34"; of an old one, for programs linked long ago,
                          // "@GLIBC_2.2.5"; empty without one
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    // STT_GNU_IFUNC: its code only selects the implementation, so a probe hits once, at start-up.
    bool is_indirect = false;
};

// The functions whose names match a shell pattern or are equal to it, ordered by offset; several
// names of one address are all listed. Behind the name may be a version: "memcpy@@GLIBC_2.14" is
// the one that programs are linked to today, "memcpy@GLIBC_2.2.5" any one of that version. Searches
// the symbol tables of the file and, if it is stripped, of its separate debug file (see
// open_debug_file()) or of what it has of one within itself (see open_mini_debug_info()).
std::vector<ElfFunction> find_functions(const std::string& path, std::string_view pattern);

// A function or a variable, where the file was linked to be.
struct ElfSymbol {
    std::uint64_t address = 0;
    std::uint64_t size = 0;  // in bytes
};
// Searches the same tables. Absent where none has the name.
std::optional<ElfSymbol> find_symbol(const ElfFile& file, std::string_view name);

// How far the thread-local variables of that name are behind the begin of the block that each
// thread has for the file; several where parts of the program have static ones of one name.
std::vector<std::uint64_t> find_thread_variables(const std::string& path, std::string_view name);

// How far a variable or a function is behind an address of the same file, as it was linked: in each
// process it is as far. Absent where no table has the name.
std::optional<std::int64_t> distance_to_symbol(const std::string& path, std::uint64_t from,
                                               std::string_view name);

// The function whose code has that address, as the file was linked. Absent where none has it.
struct ElfPlace {
    std::string function;
    std::uint64_t offset = 0;  // behind its begin, in bytes
};
std::optional<ElfPlace> find_function_at(const ElfFile& file, std::uint64_t address);

}  // namespace gpufs
