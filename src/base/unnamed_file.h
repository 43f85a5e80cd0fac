#pragma once

#include "base/fd.h"

namespace gpufs {

// A new file without a name in $TMPDIR or /tmp, for reading and writing. Throws SysError.
Fd open_unnamed_file();

}  // namespace gpufs
