#include "support/workloads.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <stdexcept>
#include <thread>

#include "kernel/host/proc_task.h"

namespace gpufs::test {

Worker::Worker(const std::function<int()>& work) {
    int go[2];
    if (::pipe2(go, O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
    pid_ = ::fork();
    if (pid_ == -1) throw std::runtime_error("fork failed");
    if (pid_ == 0) {
        // It does not go on when the tests are killed.
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::close(go[1]);
        char byte = 0;
        if (::read(go[0], &byte, 1) != 1) ::_exit(126);
        ::close(go[0]);
        ::_exit(work());
    }
    ::close(go[0]);
    go_ = go[1];
}

Worker::~Worker() {
    if (go_ >= 0) ::close(go_);
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

void Worker::start() {
    const char byte = 1;
    if (::write(go_, &byte, 1) != 1) throw std::runtime_error("the worker is gone");
}

int Worker::wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool Worker::reaches_state(char state) const {
    constexpr int kTries = 2000;
    for (int i = 0; i < kTries; ++i) {
        const auto stat = proc::stat(pid_);
        if (stat && stat->state == state) return true;
        ::usleep(5000);
    }
    return false;
}

double now_ms() {
    using namespace std::chrono;
    return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

// In a function of its own, because the child of a vfork borrows this stack frame. The child may
// run long before its parent sleeps, so it looks.
__attribute__((noinline)) double block_in_vfork(int ms) {
    const pid_t caller = ::gettid();
    const double begin = now_ms();
    const pid_t child = ::vfork();
    if (child == 0) {
        for (auto stat = proc::stat(caller); stat && stat->state != 'D'; stat = proc::stat(caller))
            ::usleep(500);
        ::usleep(static_cast<useconds_t>(ms) * 1000);
        ::_exit(0);
    }
    const double took = now_ms() - begin;
    ::waitpid(child, nullptr, 0);
    return took;
}

namespace {

int open_userfaultfd() {
    const int fd = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK));
    if (fd < 0) return -1;
    uffdio_api api{};
    api.api = UFFD_API;
    if (::ioctl(fd, UFFDIO_API, &api) == 0) return fd;
    ::close(fd);
    return -1;
}

}  // namespace

bool can_block_in_page_fault() {
    const int fd = open_userfaultfd();
    if (fd >= 0) ::close(fd);
    return fd >= 0;
}

void block_in_page_fault(int ms) {
    const int fd = open_userfaultfd();
    const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* const memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uffdio_register range{};
    range.range.start = reinterpret_cast<std::uintptr_t>(memory);
    range.range.len = size;
    range.mode = UFFDIO_REGISTER_MODE_MISSING;
    if (fd < 0 || memory == MAP_FAILED || ::ioctl(fd, UFFDIO_REGISTER, &range) != 0)
        throw std::runtime_error("userfaultfd failed");
    std::thread pager([=] {
        pollfd wanted{fd, POLLIN, 0};
        ::poll(&wanted, 1, -1);
        ::usleep(static_cast<useconds_t>(ms) * 1000);
        uffdio_zeropage zero{};
        zero.range.start = reinterpret_cast<std::uintptr_t>(memory);
        zero.range.len = size;
        ::ioctl(fd, UFFDIO_ZEROPAGE, &zero);
    });
    static_cast<volatile char*>(memory)[0] = 1;
    pager.join();
    ::munmap(memory, size);
    ::close(fd);
}

int end_first_thread() {
    std::thread([] { ::pause(); }).detach();
    ::syscall(SYS_exit, 0);
    return 0;
}

void spin(int ms) {
    const double until = now_ms() + ms;
    while (now_ms() < until) {
    }
}

void call_getppid(int times) {
    for (int i = 0; i < times; ++i) ::syscall(SYS_getppid);
}

std::string getppid_function() {
#ifdef __aarch64__
    return "__arm64_sys_getppid";
#else
    return "__x64_sys_getppid";
#endif
}

int first_cpu() {
    cpu_set_t allowed;
    ::sched_getaffinity(0, sizeof allowed, &allowed);
    int cpu = 0;
    while (!CPU_ISSET(static_cast<unsigned>(cpu), &allowed)) ++cpu;
    return cpu;
}

void pin_to_cpu(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(cpu), &set);
    ::sched_setaffinity(0, sizeof set, &set);
}

}  // namespace gpufs::test
