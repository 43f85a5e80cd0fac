#include "kernel/host/pid_namespace.h"

#include <sys/stat.h>

#include <string>

#include "base/error.h"

namespace gpufs {

void require_initial_pids() {
    if (own_pid_namespace().is_initial()) return;
    throw UnsupportedError(
        "in this pid namespace processes have other ids than in tracefs, and nothing tells theirs",
        "run gpufs outside, or in the machine's pid namespace (docker run --pid=host); "
        "'gpufs run' and 'gpufs count' know the ids of here");
}

void require_pids_to_follow() {
    if (own_pid_namespace().is_initial()) return;
    throw UnsupportedError(
        "the COMMAND's tasks cannot be followed in a pid namespace: the kernel tells new tasks by "
        "other ids than theirs in here",
        "run gpufs in the machine's pid namespace (docker run --pid=host), or look at the whole "
        "machine with --all");
}

PidNamespace own_pid_namespace() {
    struct stat status;
    check(::stat("/proc/self/ns/pid", &status), [] { return "look at '/proc/self/ns/pid'"; });
    return {status.st_dev, status.st_ino};
}

}  // namespace gpufs
