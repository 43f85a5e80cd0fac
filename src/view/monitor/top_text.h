#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "view/columns.h"

namespace gpufs {

// What a full-screen display shows.
struct TopPage {
    std::string title;      // "gpufs watch drm   every 1s   12:34:56"
    std::string body;       // lines: the reports
    std::string keys;       // "q quit  p pause  s sort: sum"
    std::size_t first = 0;  // the body's line on top
};

// Exactly as many lines as the screen has, none wider than it: the title inverted, the body from
// its `first` line on, at the bottom the keys, and to their right how much of the body is shown
// where it is not all.
std::string top_text(const TopPage& page, const Screen& screen);

// The last `first` that still fills the screen; 0 where all lines fit.
std::size_t last_first_line(std::string_view body, const Screen& screen);

}  // namespace gpufs
