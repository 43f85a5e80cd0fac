#pragma once

#include <functional>
#include <string>

namespace gpufs::test {

// A forked copy of this test that does something whose truth is known. It waits until start(), and
// is killed and reaped at the end.
class Worker {
public:
    // `work` runs in the child, which then exits with its result.
    explicit Worker(const std::function<int()>& work);
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    int pid() const { return pid_; }
    void start();
    // Waits for its end; its exit status.
    int wait();
    // Until its state in /proc is this letter; false after 10 s.
    bool reaches_state(char state) const;

private:
    int pid_ = -1;
    int go_ = -1;
};

// Sleeps uninterruptibly in vfork(2) for at least `ms`. Returns what the call took, in ms.
double block_in_vfork(int ms);
// What names a function of its stack in the kernel: glibc's vfork is a system call of its own on
// x86-64 only.
#if defined __x86_64__
inline constexpr const char* kVforkFrame = "vfork";
#else
inline constexpr const char* kVforkFrame = "sys_clone";
#endif
// Touches a page that nobody delivers for `ms`. False where userfaultfd(2) is not to be had.
bool can_block_in_page_fault();
void block_in_page_fault(int ms);
// Ends the calling thread, the first one of its process, and leaves another one asleep.
int end_first_thread();
// Burns the CPU for `ms` of wall-clock time.
void spin(int ms);
// getppid(2), so many times: one event each.
void call_getppid(int times);
// The kernel's function behind it.
std::string getppid_function();
// The first CPU that this process may run on.
int first_cpu();
// Binds this thread to one CPU.
void pin_to_cpu(int cpu);
double now_ms();

}  // namespace gpufs::test
