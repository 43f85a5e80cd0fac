#pragma once

namespace gpufs {

// What tracing asks a process to have, by linux/capability.h's numbers. The two newer ones are
// parts of CAP_SYS_ADMIN since Linux 5.8.
enum class Capability : unsigned { sys_admin = 21, perfmon = 38, bpf = 39 };

// Whether it is in the effective set, from /proc/self/status.
bool has_capability(Capability capability);

}  // namespace gpufs
