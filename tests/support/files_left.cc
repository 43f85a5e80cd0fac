#include "support/files_left.h"

#include <fcntl.h>

#include <algorithm>
#include <string>

#include "base/file.h"

namespace gpufs::test {

FilesLeft::FilesLeft(std::size_t left) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    int highest = 0;
    for (const std::string& name : list_directory("/proc/self/fd"))
        highest = std::max(highest, std::stoi(name));
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(highest) + 1 + left;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    while (Fd taken{::open("/dev/null", O_RDONLY | O_CLOEXEC)}) taken_.push_back(std::move(taken));
    taken_.resize(taken_.size() - left);
}

FilesLeft::~FilesLeft() {
    ::setrlimit(RLIMIT_NOFILE, &before_);
}

}  // namespace gpufs::test
