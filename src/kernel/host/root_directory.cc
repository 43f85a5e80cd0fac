#include "kernel/host/root_directory.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/cat.h"
#include "base/file_id.h"

namespace gpufs {
namespace {

// Opens `place`, an O_PATH descriptor, for reading if it is a regular file. O_PATH has no side
// effects on devices and pipes; O_NONBLOCK does not wait for the holder of a lease.
Fd open_regular(const Fd& place) {
    struct stat status;
    if (!place || ::fstat(place.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
    return Fd{
        ::open(cat("/proc/self/fd/", place.get()).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
}

bool is_same_place(const std::string& a, const std::string& b) {
    const auto first = file_id(a);
    return first && first == file_id(b);
}

}  // namespace

std::optional<RootDirectory> RootDirectory::of(int pid) {
    const std::string task = cat("/proc/", pid);
    RootDirectory root;
    // The same directory may have other mounts below it in another mount namespace.
    if (is_same_place(task + "/root", "/proc/self/root") &&
        is_same_place(task + "/ns/mnt", "/proc/self/ns/mnt"))
        return root;
    root.directory_ = Fd{::open((task + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    struct stat status;
    root.is_own_ = false;
    if (!root.directory_ || ::fstat(root.directory_.get(), &status) != 0) return std::nullopt;
    root.device_ = status.st_dev;
    root.inode_ = status.st_ino;
    return root;
}

void RootDirectory::close() noexcept {
    directory_ = Fd();
    is_own_ = false;
    device_ = inode_ = 0;
}

Fd RootDirectory::open(const std::string& path, LastLink last) const {
    // Together with O_PATH, O_NOFOLLOW opens the link, which is no regular file.
    const int flags = O_PATH | O_CLOEXEC | (last == LastLink::refused ? O_NOFOLLOW : 0);
    if (is_own()) return open_regular(Fd{::open(path.c_str(), flags)});
    if (!directory_) return {};
    open_how how{};
    how.flags = static_cast<__u64>(flags);
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    Fd place{
        static_cast<int>(::syscall(SYS_openat2, directory_.get(), path.c_str(), &how, sizeof how))};
    // EPERM: a seccomp sandbox that does not know the call.
    if (!place && (errno == ENOSYS || errno == EPERM))
        place = Fd{::openat(directory_.get(), cat('.', path).c_str(), flags)};
    return open_regular(place);
}

bool is_only_from(int fd, std::uint32_t user) {
    struct stat status;
    return ::fstat(fd, &status) == 0 && (status.st_uid == 0 || status.st_uid == user) &&
           (status.st_mode & S_IWOTH) == 0;
}

std::string mapped_link(int pid, std::uint64_t start, std::uint64_t end) {
    char range[48];
    std::snprintf(range, sizeof range, "%llx-%llx", static_cast<unsigned long long>(start),
                  static_cast<unsigned long long>(end));
    return cat("/proc/", pid, "/map_files/", range);
}

Fd open_mapped(int pid, std::uint64_t start, std::uint64_t end) {
    return open_regular(Fd{::open(mapped_link(pid, start, end).c_str(), O_PATH | O_CLOEXEC)});
}

}  // namespace gpufs
