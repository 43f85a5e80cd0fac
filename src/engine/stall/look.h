#pragma once

#include "base/symbol.h"
#include "engine/stall/stall.h"
#include "engine/stall/syscall_text.h"
#include "lang/symbols/task_names.h"

namespace gpufs {

// Asks /proc what events do not tell.
class StallLook {
public:
    // All are borrowed.
    StallLook(SyscallText& syscalls, TaskNames& tasks, const AddressNames& addresses)
        : syscalls_(syscalls), tasks_(tasks), addresses_(addresses) {}

    // A task as it is now: its state, and if it does not run, all that is known of why. `begin_ns`
    // is `now_ns`. Absent when it has ended.
    std::optional<Stall> find(int tid, std::uint64_t now_ns);
    // Adds to the stall of a task that is blocked now: its system call where no event said it, the
    // file, verified, the texts of the call, and a stack where there is none.
    void add_while_blocked(Stall& stall);
    // Where no event said the system call: adds that it is in none, if its stack says so.
    void add_call_by_stack(Stall& stall) const;
    // Adds to a stall that has ended: the same, the file as it is now, unverified, and its waker's
    // name.
    void add_afterwards(Stall& stall);

private:
    SyscallText& syscalls_;
    TaskNames& tasks_;
    const AddressNames& addresses_;
};

}  // namespace gpufs
