#pragma once

#include <string>

#include "base/fd.h"
#include "lang/trace_dat/read.h"

namespace gpufs {

// Opens a recording so that any part of it can be read. "-" is stdin. The content of a pipe is
// first copied into a file without a name. Throws SysError, and Error for a pipe that nobody writes
// to.
Fd open_recording(const std::string& path);

// Its bytes, to be read by a cursor. The descriptor must stay open. Reading throws SysError.
trace_dat::Source bytes_of_file(int file);

}  // namespace gpufs
