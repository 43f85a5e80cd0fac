#include "kernel/bpf/memlock.h"

#include <sys/resource.h>

#include "kernel/host/capabilities.h"
#include "kernel/host/kernel_version.h"

namespace gpufs {
namespace {

bool is_charged() {
    return running_kernel() < KernelVersion{5, 11, 0};
}

}  // namespace

bool has_memlock_limit() {
    rlimit now{};
    return is_charged() && ::getrlimit(RLIMIT_MEMLOCK, &now) == 0 &&
           now.rlim_max != RLIM_INFINITY && !has_capability(Capability::sys_resource);
}

// Tries unlimited first, which takes CAP_SYS_RESOURCE, then the hard limit.
bool raise_memlock() {
    rlimit now{};
    if (!is_charged() || ::getrlimit(RLIMIT_MEMLOCK, &now) != 0 || now.rlim_cur == RLIM_INFINITY)
        return false;
    const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
    if (::setrlimit(RLIMIT_MEMLOCK, &all) == 0) return true;
    if (now.rlim_cur == now.rlim_max) return false;
    const rlimit most{now.rlim_max, now.rlim_max};
    return ::setrlimit(RLIMIT_MEMLOCK, &most) == 0;
}

}  // namespace gpufs
