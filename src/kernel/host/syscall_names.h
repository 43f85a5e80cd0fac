#pragma once

#include <optional>
#include <string_view>

namespace gpufs {

// The name of a system call ("ioctl") on the architecture that gpufs was built for; empty if the
// headers at build time did not have that number.
std::string_view syscall_name(long nr);
// The number of a system call; absent if the headers at build time did not have the name.
std::optional<long> syscall_number(std::string_view name);

}  // namespace gpufs
