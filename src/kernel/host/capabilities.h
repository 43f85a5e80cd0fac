#pragma once

namespace gpufs {

// The capabilities that tracing needs, with the numbers of linux/capability.h. Linux 5.8 split the
// two newest ones off CAP_SYS_ADMIN. sys_resource raises limits.
enum class Capability : unsigned { sys_admin = 21, sys_resource = 24, perfmon = 38, bpf = 39 };

// Whether this process has it in its effective set.
bool has_capability(Capability capability);
// Whether it has those that BPF programs for tracing need.
bool may_load_programs();

}  // namespace gpufs
