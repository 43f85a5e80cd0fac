#pragma once

#include <string>
#include <vector>

#include "engine/stall/stall.h"
#include "engine/stall/syscall_text.h"
#include "engine/trace/context.h"

namespace gpufs {

// The functions of a stall's stack, innermost first, without those of the tracer.
std::vector<std::string> stack_functions(const Stall& stall, const AddressNames& names);

// The functions that identify the place of a stall: the stack without the scheduler at its top and
// the entry code at its bottom, at most `most` of them. Empty if there is no stack.
std::vector<std::string> stack_in_short(const std::vector<std::string>& functions,
                                        std::size_t most);

// "corosync-812"
std::string task_text(std::string_view comm, int pid);

// Formats a stall for a person:
//
//   04:12:07.118204  D    120.1 ms  blocker-31337  vfork()
//                       woken  by blocker-31340
//                       cpu    1 -> 0
//                       stack  __wait_for_common
//                              ...
class StallText {
public:
    // Keeps references to both.
    StallText(TraceContext& context, SyscallText& syscalls)
        : context_(context), syscalls_(syscalls) {}

    std::string print(const Stall& stall);
    // The system call as text: "read(fd=3, ...)", "no system call", "system call not known".
    std::string syscall(const Stall& stall);

private:
    TraceContext& context_;
    SyscallText& syscalls_;
};

// A stall as a JSON object on one line.
std::string stall_json(const Stall& stall, const TraceContext& context, SyscallText& syscalls);

}  // namespace gpufs
