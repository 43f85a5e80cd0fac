#pragma once

#include <string>

#include "base/fd.h"

namespace gpufs {

// Opens a recording so that any part of it can be read. "-" is stdin. The content of a pipe is
// first copied into a file without a name. Throws SysError, and Error for a pipe that nobody writes
// to.
Fd open_recording(const std::string& path);

}  // namespace gpufs
