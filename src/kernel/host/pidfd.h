#pragma once

#include <string_view>

#include "base/fd.h"

namespace gpufs {

// A descriptor of a process (Linux 5.3), readable once it has ended. Throws SysError, which says
// that this was wanted to `purpose`: "watch the command".
Fd open_pidfd(int process, std::string_view purpose);

}  // namespace gpufs
