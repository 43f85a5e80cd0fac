#include "base/unnamed_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/error.h"

namespace gpufs {

Fd open_unnamed_file() {
    const char* chosen = std::getenv("TMPDIR");
    const std::string directory = chosen && *chosen ? chosen : "/tmp";
    Fd file{::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)};
    if (file) return file;
    // Not every file system has O_TMPFILE.
    std::string path = directory + "/gpufs-XXXXXX";
    file = Fd{check(::mkostemp(path.data(), O_CLOEXEC),
                    [&] { return cat("make a file in '", directory, "'"); })};
    ::unlink(path.c_str());
    return file;
}

}  // namespace gpufs
