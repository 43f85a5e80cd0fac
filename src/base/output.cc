#include "base/output.h"

#include "base/file.h"

namespace gpufs {

void Output::flush() {
    // What could not be written is not tried again.
    std::string text = std::exchange(buffer_, {});
    write_all(fd_, text, name_);
    text.clear();
    buffer_ = std::move(text);  // its memory serves again
}

}  // namespace gpufs
