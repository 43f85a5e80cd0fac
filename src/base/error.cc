#include "base/error.h"

#include <system_error>

namespace gpufs {

SysError::SysError(int code, const std::string& doing, std::string hint, std::string evidence)
    : Error(cat("cannot ", doing, ": ", std::generic_category().message(code)), std::move(hint),
            std::move(evidence)),
      code_(code) {}

}  // namespace gpufs
