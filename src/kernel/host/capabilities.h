#pragma once

namespace gpufs {

// The capabilities that tracing needs, with the numbers of linux/capability.h. Linux 5.8 split the
// two newer ones off CAP_SYS_ADMIN.
enum class Capability : unsigned { sys_admin = 21, perfmon = 38, bpf = 39 };

// Whether this process has it in its effective set.
bool has_capability(Capability capability);

}  // namespace gpufs
