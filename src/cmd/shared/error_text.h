#pragma once

#include <string>

#include "base/error.h"

namespace gpufs {

// An error as users see it, in lines: the message, the kernel's own words indented below it, and
// the hint. Without a final newline.
std::string error_text(const Error& e);

}  // namespace gpufs
