#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.h"

namespace gpufs {

// The root directory of a process: our own, or that of a container. Kept open, so that it is usable
// after the process has ended.
class RootDirectory {
public:
    // Our own root.
    RootDirectory() noexcept = default;
    // The root of a process; absent when the process is gone or we may not see it.
    static std::optional<RootDirectory> of(int pid);

    bool is_own() const noexcept { return is_own_; }
    // Closes the directory: open() finds nothing afterwards.
    void close() noexcept;
    // Identify the directory if it is not our own; 0 after close().
    std::uint64_t device() const noexcept { return device_; }
    std::uint64_t inode() const noexcept { return inode_; }

    // Opens a regular file for reading; empty if there is none. Symbolic links and ".." in the
    // path, even in a hostile file system, cannot leave this root (openat2(2), Linux 5.6; before
    // that, absolute links can). Never opens devices or pipes. With LastLink::refused, what the
    // path names must not be a symbolic link itself.
    enum class LastLink { followed, refused };
    Fd open(const std::string& path, LastLink last = LastLink::followed) const;

private:
    Fd directory_;
    bool is_own_ = true;
    std::uint64_t device_ = 0, inode_ = 0;
};

// Whether only root and this user can have written what is in the file: it belongs to one of them,
// and not everybody may write it.
bool is_only_from(int fd, std::uint32_t user);

// The kernel's link to the file that a process has mapped at exactly these addresses, even if it is
// deleted. Following it takes CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE.
std::string mapped_link(int pid, std::uint64_t start, std::uint64_t end);
// Opens the regular file that a process has mapped at these addresses. Empty if there is none or
// this user lacks CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE.
Fd open_mapped(int pid, std::uint64_t start, std::uint64_t end);

}  // namespace gpufs
