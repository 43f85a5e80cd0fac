#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kernel/elf/elf_file.h"

namespace gpufs {

// The call frame information (.eh_frame) of a program or library, as linked at `address`. The bytes
// may go on behind its end. Absent where the file has none.
struct CallFrames {
    std::string_view bytes;  // valid as long as the file
    std::uint64_t address = 0;
};
// Of a file without section headers, too. Only of code of this machine's architecture, of 64 bits.
std::optional<CallFrames> find_call_frames(const ElfFile& file);

}  // namespace gpufs
