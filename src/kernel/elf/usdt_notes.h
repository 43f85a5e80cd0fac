#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// A static probe (USDT), from the file's .note.stapsdt.
struct UsdtProbe {
    std::string provider;
    std::string name;
    std::string arguments;               // "-4@%edi 8@-16(%rbp)", as in the note; lang parses it
    std::uint64_t address = 0;           // as the file was linked
    std::uint64_t offset = 0;            // in the file
    std::uint64_t semaphore_offset = 0;  // of its semaphore, which counts listeners; 0: none
};

// The probes whose provider and name match these shell patterns, in the file's order. A probe may
// have several places. Throws SysError if the file cannot be read, Error if it is not an ELF
// program or library.
std::vector<UsdtProbe> find_usdt_probes(const std::string& path, std::string_view provider,
                                        std::string_view name);

}  // namespace gpufs
