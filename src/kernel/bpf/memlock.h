#pragma once

namespace gpufs {

// Before Linux 5.11, maps and programs are charged to RLIMIT_MEMLOCK.

// Whether they are, to a limit that this process cannot lift.
bool has_memlock_limit();
// What lifts it.
inline constexpr const char* kLiftMemlock =
    "as root: ulimit -l unlimited, or CAP_SYS_RESOURCE: before Linux 5.11, maps and programs count "
    "as locked memory";

// Raises the limit as far as this user may. Returns true where that helps.
bool raise_memlock();

}  // namespace gpufs
