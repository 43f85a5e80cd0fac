#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// A system call as the kernel counts it: what the raw event and /proc/PID/syscall both have.
struct SyscallRef {
    long nr = -1;
    std::array<std::uint64_t, 6> args{};
    bool operator==(const SyscallRef&) const = default;
};

// What is known about the system call that a task is in.
struct SyscallState {
    enum class Known { no, none, yes };
    Known known = Known::no;  // none: it is in no system call
    SyscallRef call;          // with yes
};

// The content of /proc/TID/syscall: "running", "-1 SP PC" for a task that is blocked outside of any
// call, or "NR ARG…6 SP PC".
SyscallState parse_proc_syscall(std::string_view text);

// What /proc/TID/stat says that matters here.
struct TaskStat {
    std::string comm;
    char state = '?';  // R, S, D, T, t, I, P, Z, X
    int parent = 0;
    bool is_kernel_thread = false;
    std::uint64_t start_ticks = 0;  // clock ticks from boot to its start

    // It runs no more; it is still there because its parent has not waited for it.
    bool has_ended() const { return state == 'Z' || state == 'X'; }
};
std::optional<TaskStat> parse_task_stat(std::string_view text);

// The functions of /proc/TID/stack, innermost first: "[<0>] do_wait+0x4c/0xe0" is "do_wait".
std::vector<std::string> parse_proc_stack(std::string_view text);

// Reads about tasks: everything may be absent, because tasks end when they like and /proc answers
// only those who may ask. A tid below /proc names a thread as well as a process.
namespace proc {

// The entries of a directory that are numbers, ascending; none where it cannot be read.
std::vector<int> numbers_in(const std::string& directory);
std::optional<TaskStat> stat(int tid);
// How often the task left its CPU, by itself or not; absent where there is no such task.
std::optional<std::uint64_t> switches(int tid);
SyscallState syscall(int tid);
std::vector<std::string> stack(int tid);
// The kernel function that it waits in; empty when it does not wait.
std::string wchan(int tid);
std::string comm(int tid);
// The process that a thread belongs to; 0 when there is no such task.
int tgid(int tid);
// The same; throws Error if there is no such task, or if all threads of its process have ended.
int require_tgid(int tid);
// Its number in the innermost pid namespace that it is in, which is its own getpid(); 0 when there
// is no such task.
int innermost_pid(int tid);
// The user whose files it can write: its effective user, root for one that does not let itself be
// looked at (prctl(2), PR_SET_DUMPABLE); absent when there is no such task.
std::optional<std::uint32_t> owner(int tid);
std::vector<int> threads(int pid);
// The processes that were started by a process's threads and still live.
std::vector<int> children(int pid);
std::vector<int> processes();
// The text of /proc/PID/maps; empty where the process is gone or not for us to see.
std::string maps(int pid);
// What stands behind a descriptor: "/dev/watchdog", "pipe:[4711]"; empty when it is not open.
std::string file_of(int tid, int fd);

}  // namespace proc
}  // namespace gpufs
