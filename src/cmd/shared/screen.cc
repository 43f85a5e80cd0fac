#include "cmd/shared/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace gpufs {

Screen screen_of(int fd) {
    winsize size{};
    if (::isatty(fd) == 0 || ::ioctl(fd, TIOCGWINSZ, &size) != 0) return {};
    return {size.ws_col, size.ws_row};
}

}  // namespace gpufs
