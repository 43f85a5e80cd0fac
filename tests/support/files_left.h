#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <vector>

#include "base/fd.h"

namespace gpufs::test {

// Lets this process open so many files more, as long as it exists.
class FilesLeft {
public:
    explicit FilesLeft(std::size_t left);
    ~FilesLeft();
    FilesLeft(const FilesLeft&) = delete;
    FilesLeft& operator=(const FilesLeft&) = delete;

private:
    rlimit before_{};
    std::vector<Fd> taken_;
};

}  // namespace gpufs::test
