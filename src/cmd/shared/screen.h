#pragma once

#include "view/columns.h"

namespace gpufs {

// The size of the terminal behind a descriptor; unlimited if it is not a terminal or does not
// report a size.
Screen screen_of(int fd);

// What can be drawn there: ASCII unless it is a terminal of a UTF-8 locale; colours where the
// terminal has 256 and $NO_COLOR is not set.
Plot plot_of(int fd);

}  // namespace gpufs
