#pragma once

#include <string_view>
#include <vector>

#include "lang/program/types.h"

namespace gpufs {

// The names of the flags in an argument of a system call, as its manual page has them; its event
// has only the number. Empty: none are known.
std::vector<FlagName> flags_of_call(std::string_view call, std::string_view field);

}  // namespace gpufs
