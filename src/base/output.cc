#include "gpufs/base/output.h"

#include "gpufs/base/file.h"

namespace gpufs {

void Output::flush() {
    const std::string text = std::exchange(buffer_, {});
    write_all(fd_, text, name_);
}

}  // namespace gpufs
