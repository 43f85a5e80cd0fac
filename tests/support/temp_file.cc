#include "support/temp_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/fd.h"
#include "base/file.h"

namespace gpufs::test {

TempFile::TempFile(std::string_view text, const std::string& suffix)
    : path_("/tmp/gpufs-test-XXXXXX" + suffix) {
    const Fd fd(::mkstemps(path_.data(), static_cast<int>(suffix.size())));
    write_all(fd.get(), text, path_);
    ::fchmod(fd.get(), 0644);
}

TempFile::~TempFile() {
    ::unlink(path_.c_str());
}

}  // namespace gpufs::test
