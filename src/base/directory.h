#pragma once

#include <dirent.h>

#include <memory>

namespace gpufs {

struct CloseDirectory {
    void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};
// What opendir(3) opened.
using Directory = std::unique_ptr<DIR, CloseDirectory>;

}  // namespace gpufs
