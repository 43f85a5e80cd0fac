#pragma once

#include <string>
#include <string_view>

#include "base/source.h"

namespace gpufs {

// The name of the source that comes from standard input.
inline constexpr std::string_view kStandardInput = "stdin";

// The text of a file; "-" is standard input. Throws SysError.
SourceText read_source(const std::string& path);

}  // namespace gpufs
