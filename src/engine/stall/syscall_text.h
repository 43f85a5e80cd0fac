#pragma once

#include <optional>
#include <string>

#include "engine/trace/events.h"
#include "kernel/host/proc_task.h"

namespace gpufs {

// System calls in words, as far as the kernel's own sys_enter formats tell the arguments. Only the
// formats of the calls asked about are read.
class SyscallText {
public:
    // Borrowed.
    explicit SyscallText(Events& events) : events_(events) {}

    // "ioctl"; "syscall 4711" for a number without a name.
    std::string name(long nr) const;
    // "fd=3, cmd=0x40045704, arg=0x7ffd0c9e5a2c": what the call was entered with.
    std::string arguments(const SyscallRef& call);
    // Which of the arguments is a descriptor, and its value; absent when none is, or when it is
    // AT_FDCWD.
    std::optional<int> descriptor(const SyscallRef& call);

private:
    const EventFormat* format(long nr);

    Events& events_;
};

}  // namespace gpufs
