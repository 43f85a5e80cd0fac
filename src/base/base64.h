#pragma once

#include <string>
#include <string_view>

namespace gpufs {

// The bytes as text (RFC 4648, the usual alphabet), with "=" at the end where it is needed.
std::string base64(std::string_view bytes);

}  // namespace gpufs
