#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpufs {

// Names, paths, symbols and the texts of events are chosen by others, and may hold bytes that move
// the terminal's cursor, ring its bell or end the line. Everything of that kind that gpufs prints
// passes through here: control characters become \n, \t or \x1b, and so do bytes that are not
// UTF-8 (\xff). A backslash stays what it is, so the result cannot be read back: --raw prints the
// bytes.
enum class Controls { escaped, raw };

// Appends the text; unchanged if `controls` is raw.
void append_printable(std::string& out, std::string_view text,
                      Controls controls = Controls::escaped);
std::string printable(std::string_view text, Controls controls = Controls::escaped);
// The same for what `out` has from offset `start` on.
void make_printable(std::string& out, std::size_t start, Controls controls = Controls::escaped);
// The same for a text of several lines: newlines and tabs stay.
std::string printable_lines(std::string_view text, Controls controls = Controls::escaped);
void make_lines_printable(std::string& out, std::size_t start,
                          Controls controls = Controls::escaped);

}  // namespace gpufs
