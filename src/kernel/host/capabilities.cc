#include "kernel/host/capabilities.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gpufs {

bool has_capability(Capability capability) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
    if (::syscall(SYS_capget, &header, sets) != 0) return false;
    const auto number = static_cast<unsigned>(capability);
    return sets[number / 32].effective >> (number % 32) & 1;
}

bool may_load_programs() {
    return has_capability(Capability::sys_admin) ||
           (has_capability(Capability::perfmon) && has_capability(Capability::bpf));
}

}  // namespace gpufs
