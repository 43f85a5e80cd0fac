#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpufs {

// Text in terminal columns; each UTF-8 character takes one column.

// What bars, heat maps and sparklines are made of. `none`: bars of '@', nothing else is drawn.
enum class Plot { none, ascii, blocks, colours };

// The size of the screen; 0: unlimited, as in a file or a pipe.
struct Screen {
    std::size_t columns = 0, rows = 0;
    Plot plot = Plot::none;
};

std::size_t columns_of(std::string_view text);

// The text without what stands in its first columns.
std::string_view without_columns(std::string_view text, std::size_t columns);

// Appends text padded with spaces to the width; a negative width aligns it to the left. Longer text
// is not truncated.
void append_padded(std::string& out, std::string_view text, int width);
// Pads the end of `out` from offset `start` in the same way.
void pad_from(std::string& out, std::size_t start, int width);

// Truncates the last line of `out`, from offset `start`, to the screen's width.
void cut_from(std::string& out, std::size_t start, const Screen& screen);

}  // namespace gpufs
