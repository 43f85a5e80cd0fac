#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "engine/trace/events.h"
#include "kernel/host/proc_task.h"
#include "kernel/host/process_text.h"

namespace gpufs {

// What arguments of a system call point to, by their numbers.
using CallTexts = std::map<std::size_t, ProcessText>;

// System calls in words, as far as the kernel's own sys_enter formats tell the arguments. Only the
// formats of the calls asked about are read.
class SyscallText {
public:
    // Borrowed.
    explicit SyscallText(Events& events) : events_(events) {}

    // "ioctl"; "syscall 4711" for a number without a name.
    std::string name(long nr) const;
    // "dfd=AT_FDCWD, filename=\"/dev/kmsg\", flags=0x1": what the call was entered with. Those
    // whose text is not given are addresses.
    std::string arguments(const SyscallRef& call, const CallTexts& texts = {});
    // Reads the texts that arguments of the call point to, such as paths, of a task that is in it.
    CallTexts read_texts(int tid, const SyscallRef& call);
    // Which of the arguments is a descriptor, and its value; absent when none is, or when it is
    // AT_FDCWD.
    std::optional<int> descriptor(const SyscallRef& call);

private:
    const EventFormat* format(long nr);

    Events& events_;
};

}  // namespace gpufs
