#pragma once

#include <linux/bpf.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace gpufs {

// bpf(2) itself, for the other files in this folder.

// A zeroed attribute block. The kernel rejects non-zero unused bytes, and brace initialization of a
// union zeroes only its first member.
bpf_attr zeroed_attr();

std::uint64_t address_of(const void* p);

// Returns -1 and sets errno, like the system call. Never throws.
int sys_bpf(bpf_cmd command, bpf_attr& attr);

// The same for calls that are charged to RLIMIT_MEMLOCK before Linux 5.11: when such a kernel
// returns EPERM, raises the limit as far as this user may and retries once.
int sys_bpf_charged(bpf_cmd command, bpf_attr& attr);

// Copies as much of `name` as a kernel object can carry into `field` of BPF_OBJ_NAME_LEN bytes: 15
// characters of [A-Za-z0-9_].
void set_object_name(char* field, std::string_view name);

// Throws the error for a bpf(2) call that failed with `code`; `doing` completes "cannot ...".
// ENOSYS, EPERM and EACCES become an UnsupportedError that names what is missing; other codes a
// SysError.
[[noreturn]] void throw_bpf_error(int code, const std::string& doing, std::string_view hint = {});

// A hint that names the capability this user lacks. `perfmon`: the call also needs CAP_PERFMON.
std::string missing_capability(bool perfmon = true);

// bpf_attr::link_create for kAttachUprobeMulti, as of Linux 6.6; older headers lack it.
struct UprobeMultiAttr {
    __u32 prog_fd, target_fd, attach_type, link_flags;
    __u64 path, offsets, ref_ctr_offsets, cookies;
    __u32 cnt, flags, pid, pad;
};
bpf_attr as_attr(const UprobeMultiAttr& multi);

// The kernel's errno for "not supported"; <errno.h> does not define it.
constexpr int kENotSupp = 524;

}  // namespace gpufs
