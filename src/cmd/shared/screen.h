#pragma once

#include "view/columns.h"

namespace gpufs {

// The size of the terminal that a descriptor is; endless where it is none, or does not say.
Screen screen_of(int fd);

}  // namespace gpufs
