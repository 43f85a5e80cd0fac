#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "view/columns.h"

namespace gpufs {

// The content of a full-screen display.
struct TopPage {
    std::string title;      // "gpufs watch drm   every 1s   12:34:56"
    std::string body;       // lines: the reports
    std::string keys;       // "q quit  p pause  s sort: sum"
    std::size_t first = 0;  // the first visible line of the body
};

// Exactly as many lines as the screen has, none wider than the screen: the title inverted, the body
// from its line `first` on, and at the bottom the keys, with the visible part of the body on their
// right unless all of it is visible.
std::string top_text(const TopPage& page, const Screen& screen);

// The largest `first` that still fills the screen; 0 if all lines fit.
std::size_t last_first_line(std::string_view body, const Screen& screen);

}  // namespace gpufs
