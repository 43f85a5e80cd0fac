#pragma once

#include <string>

#include "base/error.h"
#include "cmd/shared/command.h"

namespace gpufs {

// An error as users see it, in lines: the message, the kernel's own words indented below it, and
// the hint. Without a final newline.
std::string error_text(const Error& e);

// The same as the last words of a command: with the program's name in front, or in bpftrace's form,
// "ERROR: " behind the place.
std::string complaint(const Error& e, Voice voice);

}  // namespace gpufs
