#pragma once

#include <string>
#include <string_view>

namespace gpufs {

// The bytes in the format of gzip(1). Throws std::bad_alloc.
std::string gzip(std::string_view bytes);
// The same in that of zlib (RFC 1950), which browsers call "deflate".
std::string zlib_packed(std::string_view bytes);

}  // namespace gpufs
