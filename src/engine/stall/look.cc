#include "engine/stall/look.h"

#include "lang/symbols/entry_functions.h"

namespace gpufs {

std::optional<Stall> StallLook::find(int tid, std::uint64_t now_ns) {
    const auto stat = proc::stat(tid);
    if (!stat || stat->has_ended()) return std::nullopt;
    Stall stall;
    stall.tid = tid;
    stall.comm = stat->comm;
    stall.begin_ns = stall.end_ns = now_ns;
    stall.state = static_cast<TaskState>(stat->state);
    // Kernel threads make no system calls; ignore /proc/TID/syscall.
    if (stat->is_kernel_thread)
        stall.syscall.known = SyscallState::Known::none;
    else if (stall.state != TaskState::runnable)
        stall.syscall = proc::syscall(tid);
    return stall;
}

void StallLook::add_while_blocked(Stall& stall) {
    using Known = SyscallState::Known;
    if (stall.stack.empty() && stall.stack_names.empty()) {
        stall.stack_names = proc::stack(stall.tid);
        if (stall.stack_names.empty()) stall.wchan = proc::wchan(stall.tid);
    }
    if (stall.syscall.known == Known::none) return;
    const SyscallState before = proc::syscall(stall.tid);
    if (stall.syscall.known == Known::no) stall.syscall = before;
    // The task may have moved on: then the current state belongs to another call.
    if (before.known != Known::yes || stall.syscall.known != Known::yes ||
        before.call != stall.syscall.call)
        return;
    const auto fd = syscalls_.descriptor(before.call);
    const std::string path = fd ? proc::file_of(stall.tid, *fd) : std::string();
    CallTexts texts = syscalls_.read_texts(stall.tid, before.call);
    const SyscallState after = proc::syscall(stall.tid);
    const bool is_in_call = after.known == Known::yes && after.call == before.call;
    if (!path.empty()) stall.file = {*fd, path, is_in_call};
    if (is_in_call) stall.call_texts = std::move(texts);
}

void StallLook::add_call_by_stack(Stall& stall) const {
    if (stall.syscall.known != SyscallState::Known::no) return;
    std::vector<std::string> functions = stall.stack_names;
    for (std::size_t i = 0; i < stall.stack.size(); ++i) {
        const auto symbol = addresses_.frame(stall.stack[i], frame_place(i));
        functions.emplace_back(symbol ? symbol->name : "");
    }
    if (is_entered_by_interrupt(functions)) stall.syscall.known = SyscallState::Known::none;
}

void StallLook::add_afterwards(Stall& stall) {
    add_call_by_stack(stall);
    if (!stall.file && stall.syscall.known == SyscallState::Known::yes)
        if (const auto fd = syscalls_.descriptor(stall.syscall.call))
            if (const std::string path = proc::file_of(stall.tid, *fd); !path.empty())
                stall.file = {*fd, path, false};
    if (!stall.waker || !stall.waker->comm.empty()) return;
    stall.waker->comm = stall.waker->pid == 0 ? "<idle>" : proc::comm(stall.waker->pid);
    if (!stall.waker->comm.empty()) return;
    tasks_.refresh();
    stall.waker->comm = tasks_.comm(stall.waker->pid);
}

}  // namespace gpufs
