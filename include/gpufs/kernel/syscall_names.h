#pragma once

#include <string_view>

namespace gpufs {

// The name of a system call of the architecture that gpufs was built for ("ioctl"); empty for a
// number that its headers did not have.
std::string_view syscall_name(long nr);

}  // namespace gpufs
