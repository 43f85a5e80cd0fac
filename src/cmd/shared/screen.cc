#include "cmd/shared/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"

namespace gpufs {
namespace {

std::string_view environment(const char* name) {
    const char* const value = ::getenv(name);
    return value ? value : "";
}

// The first of these that is set says what characters are, as for setlocale(3).
bool has_utf8() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const std::string value = upper_case(environment(name));
        if (!value.empty()) return value.ends_with("UTF-8") || value.ends_with("UTF8");
    }
    return false;
}

bool has_colours() {
    if (!environment("NO_COLOR").empty()) return false;
    return !environment("COLORTERM").empty() || environment("TERM").ends_with("256color");
}

}  // namespace

Screen screen_of(int fd) {
    winsize size{};
    if (::isatty(fd) == 0 || ::ioctl(fd, TIOCGWINSZ, &size) != 0) return {};
    return {size.ws_col, size.ws_row};
}

Plot plot_of(int fd) {
    if (::isatty(fd) == 0 || !has_utf8()) return Plot::ascii;
    return has_colours() ? Plot::colours : Plot::blocks;
}

}  // namespace gpufs
