#include "base/error.h"

#include <system_error>

namespace gpufs {

Error::Error(const std::string& what, std::string_view hint, std::string_view evidence)
    : std::runtime_error(what), hint_(hint), evidence_(evidence) {}

SysError::SysError(int code, const std::string& doing, std::string_view hint,
                   std::string_view evidence)
    : Error(cat("cannot ", doing, ": ", std::generic_category().message(code)), hint, evidence),
      code_(code) {}

}  // namespace gpufs
