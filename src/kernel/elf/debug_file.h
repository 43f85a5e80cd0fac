#pragma once

#include <memory>
#include <string>

#include "kernel/elf/elf_file.h"
#include "kernel/host/root_directory.h"

namespace gpufs {

// The separate debug file of a stripped program or library; null if there is none. Searches the
// folders of kDebugFoldersVariable, then by build id below /usr/lib/debug/.build-id, then by name
// (.gnu_debuglink) next to the file, in .debug and below /usr/lib/debug. `directory` is the file's
// own, as seen from `root`. All paths are below `root`; the build id is also searched below our own
// root. Ignores debug files of other builds.
std::unique_ptr<ElfFile> open_debug_file(const ElfFile& of, const std::string& directory,
                                         const RootDirectory& root);

// Where a debug file with this build id lies: "/usr/lib/debug/.build-id/ab/cdef.debug".
std::string build_id_path(const std::string& id);

}  // namespace gpufs
