#pragma once

#include <optional>
#include <string_view>

namespace gpufs {

// The name of a system call of the architecture that gpufs was built for ("ioctl"); empty for a
// number that its headers did not have.
std::string_view syscall_name(long nr);
// The other way round; absent for a name that its headers did not have.
std::optional<long> syscall_number(std::string_view name);

}  // namespace gpufs
