#pragma once

#include <string_view>

#include "base/glob.h"

namespace gpufs {

// Whether a function is named as C++ and Rust write it, and not by its symbol: "ns::f",
// "f(char*)".
inline bool is_readable_name(std::string_view name) {
    return name.find("::") != name.npos || (name.ends_with(')') && name.find('(') != name.npos);
}

// Whether a function's name is a pattern of symbols: a readable one is none, whatever its types
// have in it.
inline bool is_function_pattern(std::string_view name) {
    return is_glob(name) && !is_readable_name(name);
}

}  // namespace gpufs
