#include "base/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace gpufs {

void Output::write_to(const std::string& path) {
    file_ = Fd(check(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666),
                     [&] { return cat("write '", path, "'"); }));
    fd_ = file_.get();
    name_ = path;
    is_begun_ = false;
}

void Output::flush() {
    // Pipes and devices cannot be emptied.
    if (!std::exchange(is_begun_, true) && ::ftruncate(fd_, 0) == -1 && errno != EINVAL)
        check(-1, [&] { return cat("empty '", name_, "'"); });
    // If the write fails, the text is not written again.
    std::string text = std::exchange(buffer_, {});
    write_all(fd_, text, name_);
    text.clear();
    buffer_ = std::move(text);  // keeps the allocated memory
}

}  // namespace gpufs
