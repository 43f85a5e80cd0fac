#pragma once

#include <string>
#include <string_view>

namespace gpufs {

// The text of a file without the byte order mark that some editors write in front of it.
inline std::string without_byte_order_mark(std::string text) {
    constexpr std::string_view kMark = "\xef\xbb\xbf";
    if (text.starts_with(kMark)) text.erase(0, kMark.size());
    return text;
}

}  // namespace gpufs
