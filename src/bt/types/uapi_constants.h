#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpufs::bt {

// Constants that scripts take from headers and that the kernel's types do not hold, because they
// are the preprocessor's: AF_*, SOCK_*, IPPROTO_*, O_*, S_*, E* (errno), SIG*, CLONE_*, PROT_*,
// MAP_*, TASK_*, AT_*, PF_*, NSIG, PATH_MAX and their like, with the numbers of this architecture.
// The numbers of system calls (__NR_*) are the World's. Absent for another name.
std::optional<std::int64_t> uapi_constant(std::string_view name);

}  // namespace gpufs::bt
