#pragma once

#include <cstddef>
#include <string_view>

namespace gpufs {

// The length of the UTF-8 sequence at the beginning of a text that is not empty; 0 if it is
// invalid. Overlong forms, surrogates and code points beyond U+10FFFF are invalid.
std::size_t utf8_length(std::string_view text);

// Whether a valid sequence of two bytes or more is a control character, U+0080 to U+009f: to a
// terminal, U+009b is what "\x1b[" is.
bool is_wide_control(std::string_view sequence);

}  // namespace gpufs
