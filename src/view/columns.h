#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpufs {

// How text lies in columns: of a terminal, a character of UTF-8 each.

// The room there is; 0: as much as it takes, as in a file or a pipe.
struct Screen {
    std::size_t columns = 0, rows = 0;
};

std::size_t columns_of(std::string_view text);

// Spaces up to this width; a negative one puts the text to the left. Longer text stays whole.
void append_padded(std::string& out, std::string_view text, int width);
// The same around what `out` holds from `start` on.
void pad_from(std::string& out, std::size_t start, int width);

// Cuts what `out` holds from `start` on, one line, to the screen's width.
void cut_from(std::string& out, std::size_t start, const Screen& screen);

}  // namespace gpufs
