#pragma once

#include "view/columns.h"

namespace gpufs {

// The size of the terminal behind a descriptor; unlimited if it is not a terminal or does not
// report a size.
Screen screen_of(int fd);

}  // namespace gpufs
