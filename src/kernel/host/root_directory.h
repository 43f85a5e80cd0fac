#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.h"

namespace gpufs {

// The directory that a process's paths begin at: our own root, or that of a container. Holds it
// open, so that it answers after the process's end.
class RootDirectory {
public:
    // Our own.
    RootDirectory() noexcept = default;
    // Of a process; absent when it is gone or not for us to see.
    static std::optional<RootDirectory> of(int pid);

    bool is_own() const noexcept { return is_own_; }
    // Gives the directory back: nothing is found below it any more.
    void close() noexcept;
    // Names the directory where it is not our own; 0 when it is closed.
    std::uint64_t device() const noexcept { return device_; }
    std::uint64_t inode() const noexcept { return inode_; }

    // Opens a regular file to read; empty where there is none. What the path has of symbolic links
    // and ".." stays below this root, also where somebody else wrote them (openat2(2), Linux 5.6;
    // before, absolute links lead out of it). Nothing else is opened: no device, no pipe.
    Fd open(const std::string& path) const;

private:
    Fd directory_;
    bool is_own_ = true;
    std::uint64_t device_ = 0, inode_ = 0;
};

// The regular file that a path below /proc/PID leads to: what a process has mapped at these
// addresses (map_files), even when it is deleted. Empty where there is none or this user may not:
// that takes CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE.
Fd open_mapped(int pid, std::uint64_t start, std::uint64_t end);

}  // namespace gpufs
