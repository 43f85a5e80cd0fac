#pragma once

#include <string>

#include "base/cat.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"

namespace gpufs::test {

// What gzip(1) makes of packed bytes.
inline std::string ungzipped(const std::string& bytes) {
    const TempFile file(bytes);
    return shell(cat("gzip -dc < ", file.path())).out;
}

}  // namespace gpufs::test
