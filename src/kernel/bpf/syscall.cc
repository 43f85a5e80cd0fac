#include "kernel/bpf/syscall.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/error.h"
#include "kernel/bpf/memlock.h"
#include "kernel/host/capabilities.h"
#include "kernel/host/kernel_version.h"

namespace gpufs {
bpf_attr zeroed_attr() {
    bpf_attr attr;
    std::memset(&attr, 0, sizeof attr);
    return attr;
}

bpf_attr as_attr(const UprobeMultiAttr& multi) {
    static_assert(sizeof multi <= sizeof(bpf_attr));
    static_assert(offsetof(UprobeMultiAttr, path) == offsetof(bpf_attr, link_create.kprobe_multi));
    bpf_attr attr = zeroed_attr();
    std::memcpy(&attr, &multi, sizeof multi);
    return attr;
}

std::uint64_t address_of(const void* p) {
    return std::bit_cast<std::uintptr_t>(p);
}

int sys_bpf(bpf_cmd command, bpf_attr& attr) {
    return static_cast<int>(::syscall(SYS_bpf, command, &attr, sizeof attr));
}

int sys_bpf_charged(bpf_cmd command, bpf_attr& attr) {
    const int result = sys_bpf(command, attr);
    if (result != -1 || errno != EPERM) return result;
    if (raise_memlock()) return sys_bpf(command, attr);
    errno = EPERM;
    return -1;
}

void set_object_name(char* field, std::string_view name) {
    const std::size_t length = std::min<std::size_t>(name.size(), BPF_OBJ_NAME_LEN - 1);
    for (std::size_t i = 0; i < length; ++i) {
        const char c = name[i];
        const bool ok = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        field[i] = ok ? c : '_';
    }
}

std::string missing_capability(bool perfmon) {
    if (has_capability(Capability::sys_admin))
        return "this user has CAP_SYS_ADMIN: a policy of this machine forbids it (lockdown, a "
               "security module, a container's seccomp filter)";
    if (running_kernel() < KernelVersion{5, 8, 0}) return "run as root, or with CAP_SYS_ADMIN";
    const bool bpf = has_capability(Capability::bpf);
    const bool perf = !perfmon || has_capability(Capability::perfmon);
    if (bpf && perf) return "run as root: this needs CAP_SYS_ADMIN";
    return cat("run as root, or with CAP_BPF", perfmon ? " and CAP_PERFMON" : "",
               "; missing: ", bpf ? "" : "CAP_BPF", !bpf && !perf ? ", " : "",
               perf ? "" : "CAP_PERFMON");
}

void throw_bpf_error(int code, const std::string& doing, std::string_view hint) {
    if (code == ENOSYS)
        throw UnsupportedError(cat("cannot ", doing, ": this kernel has no bpf(2)"),
                               "a kernel with CONFIG_BPF_SYSCALL=y");
    if (code == EPERM || code == EACCES)
        throw UnsupportedError(
            cat("cannot ", doing, ": this user may not"),
            may_load_programs() && has_memlock_limit() ? kLiftMemlock : missing_capability());
    if (code == kENotSupp)
        throw UnsupportedError(cat("cannot ", doing, ": this kernel does not support it"), hint);
    throw SysError(code, doing, hint);
}

}  // namespace gpufs
