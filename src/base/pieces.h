#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace gpufs {

// A text that is too large to be in memory whole: hands it to `take` piece by piece, each cut
// anywhere, from the begin on at each call.
using TextPieces = std::function<void(const std::function<void(std::string_view)>& take)>;

// The content of a file, 64 KiB at a time. What it returns throws SysError.
TextPieces pieces_of_file(std::string path);
// The same; empty where the file does not exist or may not be read.
TextPieces pieces_if_readable(std::string path);

// Visits the lines of a text, without their newlines; a missing last newline makes no difference.
void for_each_line(const TextPieces& text, const std::function<void(std::string_view)>& visit);

}  // namespace gpufs
