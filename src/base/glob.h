#pragma once

#include <string_view>

namespace gpufs {

// Whether a whole name matches a pattern, as fnmatch(3) without flags has it for bytes: '*', '?',
// "[a-z]", "[!a-z]", and '\' in front of what stands for itself. A '[' that is not closed does,
// too.
bool glob_match(std::string_view pattern, std::string_view name);

// Has it a character that glob_match() takes for more than itself?
bool is_glob(std::string_view pattern);

}  // namespace gpufs
