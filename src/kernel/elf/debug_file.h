#pragma once

#include <memory>
#include <string>

#include "kernel/elf/elf_file.h"
#include "kernel/host/root_directory.h"

namespace gpufs {

// The separate debug file of a stripped program or library: by build id below
// /usr/lib/debug/.build-id, by name (.gnu_debuglink) next to the file, in .debug and below
// /usr/lib/debug. `directory` is the file's own, as seen from `root`, below which all of these are
// looked for, and the build id also below our own. A debug file of another build is not taken. Null
// where there is none.
std::unique_ptr<ElfFile> open_debug_file(const ElfFile& of, const std::string& directory,
                                         const RootDirectory& root);

}  // namespace gpufs
