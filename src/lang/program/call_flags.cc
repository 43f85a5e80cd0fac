#include "lang/program/call_flags.h"

#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/sched.h>

#include <algorithm>
#include <span>

namespace gpufs {
namespace {

// As FlagName, ready when the program starts.
struct Flag {
    std::uint64_t bits, value;
    std::string_view name;
};

constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr Flag flag(std::uint64_t bits, std::string_view name) {
    return {bits, bits, name};
}

#define GPUFS_FLAG(name) flag(name, #name)
constexpr Flag kOpen[] = {
    {O_ACCMODE, O_RDONLY, "O_RDONLY"},
    {O_ACCMODE, O_WRONLY, "O_WRONLY"},
    {O_ACCMODE, O_RDWR, "O_RDWR"},
    GPUFS_FLAG(O_CREAT),
    GPUFS_FLAG(O_EXCL),
    GPUFS_FLAG(O_NOCTTY),
    GPUFS_FLAG(O_TRUNC),
    GPUFS_FLAG(O_APPEND),
    GPUFS_FLAG(O_NONBLOCK),
    GPUFS_FLAG(O_SYNC),
    GPUFS_FLAG(O_DSYNC),
    flag(FASYNC, "O_ASYNC"),
    GPUFS_FLAG(O_DIRECT),
    GPUFS_FLAG(O_LARGEFILE),
    GPUFS_FLAG(O_TMPFILE),
    GPUFS_FLAG(O_DIRECTORY),
    GPUFS_FLAG(O_NOFOLLOW),
    GPUFS_FLAG(O_NOATIME),
    GPUFS_FLAG(O_CLOEXEC),
    GPUFS_FLAG(O_PATH),
};
constexpr Flag kProtection[] = {
    {kAll, PROT_NONE, "PROT_NONE"}, GPUFS_FLAG(PROT_READ),      GPUFS_FLAG(PROT_WRITE),
    GPUFS_FLAG(PROT_EXEC),          GPUFS_FLAG(PROT_GROWSDOWN), GPUFS_FLAG(PROT_GROWSUP),
};
constexpr Flag kMapping[] = {
    {MAP_TYPE, MAP_SHARED, "MAP_SHARED"},
    {MAP_TYPE, MAP_PRIVATE, "MAP_PRIVATE"},
    {MAP_TYPE, MAP_SHARED_VALIDATE, "MAP_SHARED_VALIDATE"},
    GPUFS_FLAG(MAP_FIXED),
    GPUFS_FLAG(MAP_ANONYMOUS),
    GPUFS_FLAG(MAP_GROWSDOWN),
    GPUFS_FLAG(MAP_DENYWRITE),
    GPUFS_FLAG(MAP_EXECUTABLE),
    GPUFS_FLAG(MAP_LOCKED),
    GPUFS_FLAG(MAP_NORESERVE),
    GPUFS_FLAG(MAP_POPULATE),
    GPUFS_FLAG(MAP_NONBLOCK),
    GPUFS_FLAG(MAP_STACK),
    GPUFS_FLAG(MAP_HUGETLB),
    GPUFS_FLAG(MAP_SYNC),
    GPUFS_FLAG(MAP_FIXED_NOREPLACE),
};
constexpr Flag kClone[] = {
    GPUFS_FLAG(CLONE_VM),
    GPUFS_FLAG(CLONE_FS),
    GPUFS_FLAG(CLONE_FILES),
    GPUFS_FLAG(CLONE_SIGHAND),
    GPUFS_FLAG(CLONE_PIDFD),
    GPUFS_FLAG(CLONE_PTRACE),
    GPUFS_FLAG(CLONE_VFORK),
    GPUFS_FLAG(CLONE_PARENT),
    GPUFS_FLAG(CLONE_THREAD),
    GPUFS_FLAG(CLONE_NEWNS),
    GPUFS_FLAG(CLONE_SYSVSEM),
    GPUFS_FLAG(CLONE_SETTLS),
    GPUFS_FLAG(CLONE_PARENT_SETTID),
    GPUFS_FLAG(CLONE_CHILD_CLEARTID),
    GPUFS_FLAG(CLONE_UNTRACED),
    GPUFS_FLAG(CLONE_CHILD_SETTID),
    GPUFS_FLAG(CLONE_NEWCGROUP),
    GPUFS_FLAG(CLONE_NEWUTS),
    GPUFS_FLAG(CLONE_NEWIPC),
    GPUFS_FLAG(CLONE_NEWUSER),
    GPUFS_FLAG(CLONE_NEWPID),
    GPUFS_FLAG(CLONE_NEWNET),
    GPUFS_FLAG(CLONE_IO),
};
constexpr Flag kSocketFile[] = {flag(O_CLOEXEC, "SOCK_CLOEXEC"), flag(O_NONBLOCK, "SOCK_NONBLOCK")};
constexpr Flag kAt[] = {
    GPUFS_FLAG(AT_SYMLINK_NOFOLLOW), GPUFS_FLAG(AT_REMOVEDIR),  GPUFS_FLAG(AT_SYMLINK_FOLLOW),
    GPUFS_FLAG(AT_NO_AUTOMOUNT),     GPUFS_FLAG(AT_EMPTY_PATH),
};
// include/linux/socket.h, which programs do not see.
constexpr Flag kMessage[] = {
    flag(0x1, "MSG_OOB"),
    flag(0x2, "MSG_PEEK"),
    flag(0x4, "MSG_DONTROUTE"),
    flag(0x8, "MSG_CTRUNC"),
    flag(0x20, "MSG_TRUNC"),
    flag(0x40, "MSG_DONTWAIT"),
    flag(0x80, "MSG_EOR"),
    flag(0x100, "MSG_WAITALL"),
    flag(0x800, "MSG_CONFIRM"),
    flag(0x2000, "MSG_ERRQUEUE"),
    flag(0x4000, "MSG_NOSIGNAL"),
    flag(0x8000, "MSG_MORE"),
    flag(0x4000000, "MSG_ZEROCOPY"),
    flag(0x20000000, "MSG_FASTOPEN"),
    flag(0x40000000, "MSG_CMSG_CLOEXEC"),
};
#undef GPUFS_FLAG

struct CallField {
    std::string_view call, field;
    std::span<const Flag> flags;
};
constexpr CallField kCallFields[] = {
    {"open", "flags", kOpen},
    {"openat", "flags", kOpen},
    {"open_by_handle_at", "flags", kOpen},
    {"pipe2", "flags", kOpen},
    {"dup3", "flags", kOpen},
    {"mmap", "prot", kProtection},
    {"mprotect", "prot", kProtection},
    {"mmap", "flags", kMapping},
    {"clone", "clone_flags", kClone},
    {"unshare", "unshare_flags", kClone},
    {"setns", "flags", kClone},
    {"accept4", "flags", kSocketFile},
    {"unlinkat", "flag", kAt},
    {"newfstatat", "flag", kAt},
    {"faccessat2", "flags", kAt},
    {"linkat", "flags", kAt},
    {"statx", "flags", kAt},
    {"sendto", "flags", kMessage},
    {"sendmsg", "flags", kMessage},
    {"sendmmsg", "flags", kMessage},
    {"recvfrom", "flags", kMessage},
    {"recvmsg", "flags", kMessage},
    {"recvmmsg", "flags", kMessage},
};

}  // namespace

std::vector<FlagName> flags_of_call(std::string_view call, std::string_view field) {
    std::vector<FlagName> named;
    const auto known = std::ranges::find_if(
        kCallFields, [&](const CallField& one) { return one.call == call && one.field == field; });
    if (known != std::end(kCallFields))
        for (const auto& [bits, value, name] : known->flags)
            named.push_back({bits, value, std::string(name)});
    return named;
}

}  // namespace gpufs
