#pragma once

#include <string>
#include <string_view>

#include "base/printable.h"

namespace gpufs {

// Appends the printable text in double quotes, with a backslash before each quote and backslash of
// the text.
void append_quoted(std::string& out, std::string_view text, Controls controls = Controls::escaped);

}  // namespace gpufs
