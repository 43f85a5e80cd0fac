#pragma once

#include <string>
#include <string_view>

namespace gpufs {

// The bytes in the format of gzip(1). Throws std::bad_alloc.
std::string gzip(std::string_view bytes);

}  // namespace gpufs
