#pragma once

#include <linux/bpf.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace gpufs {

// bpf(2) itself, for the doors in this directory.

// An attribute block of zeros. The kernel rejects any stray byte, and bracing a union only promises
// its first member.
bpf_attr zeroed_attr();

std::uint64_t address_of(const void* p);

// -1 and errno, as the system call. Never throws.
int sys_bpf(bpf_cmd command, bpf_attr& attr);

// The same for what is charged to RLIMIT_MEMLOCK before Linux 5.11: when the kernel says EPERM and
// charges it, the limit is raised as far as this user may, and the call is made once more.
int sys_bpf_charged(bpf_cmd command, bpf_attr& attr);

// Puts the part of `name` that a kernel object can carry into `field` of BPF_OBJ_NAME_LEN bytes:
// 15 characters of [A-Za-z0-9_].
void set_object_name(char* field, std::string_view name);

// The error for a bpf(2) that failed with `code`; `doing` completes "cannot ...". ENOSYS, EPERM and
// EACCES are UnsupportedErrors that say what is missing, the rest is SysError.
[[noreturn]] void throw_bpf_error(int code, const std::string& doing, std::string hint = {});

// Why this user may not: names the capability that is missing, as the hint of an error. `perfmon`:
// what was refused needs CAP_PERFMON, too.
std::string missing_capability(bool perfmon = true);

// bpf_attr::link_create for kAttachUprobeMulti, as of Linux 6.6: older headers end before it.
struct UprobeMultiAttr {
    __u32 prog_fd, target_fd, attach_type, link_flags;
    __u64 path, offsets, ref_ctr_offsets, cookies;
    __u32 cnt, flags, pid, pad;
};
bpf_attr as_attr(const UprobeMultiAttr& multi);

// The errno that the kernel uses for "not supported" and keeps out of <errno.h>.
constexpr int kENotSupp = 524;

}  // namespace gpufs
