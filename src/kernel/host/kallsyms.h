#pragma once

#include "base/pieces.h"

namespace gpufs {

// The text of /proc/kallsyms: 200,000 lines, which take the kernel tens of milliseconds. Where this
// user may not read the file, kallsyms_text() throws SysError when it is called, and the other is
// empty.
TextPieces kallsyms_text();
TextPieces kallsyms_if_readable();

}  // namespace gpufs
