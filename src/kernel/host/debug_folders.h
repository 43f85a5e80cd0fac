#pragma once

namespace gpufs {

// The variable of the environment with folders, behind colons, that open_debug_file() searches
// first: below DIR/.build-id by build id, then by name in DIR and below DIR by the program's
// directory. A relative DIR is seen from the working directory and from the program's.
inline constexpr const char* kDebugFoldersVariable = "GPUFS_DEBUGINFO";

}  // namespace gpufs
