#include "base/output.h"

#include "base/file.h"

namespace gpufs {

void Output::flush() {
    // If the write fails, the text is not written again.
    std::string text = std::exchange(buffer_, {});
    write_all(fd_, text, name_);
    text.clear();
    buffer_ = std::move(text);  // keeps the allocated memory
}

}  // namespace gpufs
