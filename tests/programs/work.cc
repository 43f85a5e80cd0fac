// Work whose truth is known, for the tests of what gpufs says about it.
//
//   gpufs-work WHAT [NUMBER...]
//
// Ends with status 0 when it did exactly what it was told to.

#include <fcntl.h>
#include <linux/openat2.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "long_symbol.h"
#include "static_probe.h"
#include "works.h"

// Asks for its parent by itself: the function is the innermost of its stack.
__attribute__((noinline)) long asks_under_a_long_name() __asm__(LONG_SYMBOL);
long asks_under_a_long_name() {
#if defined __x86_64__
    long parent = SYS_getppid;
    asm volatile("syscall" : "+a"(parent) : : "rcx", "r11", "memory");
#else
    register long number asm("x8") = SYS_getppid;
    register long parent asm("x0");
    asm volatile("svc 0" : "=r"(parent) : "r"(number) : "memory");
#endif
    return parent;
}

namespace {

using works::check;
using works::Numbers;

void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    check(::sched_setaffinity(0, sizeof set, &set) == 0, "pin");
}

double seconds(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// N getppid calls, and M closes that fail.
void calls(const Numbers& n) {
    for (long i = 0; i < n[0]; ++i) ::syscall(SYS_getppid);
    for (long i = 0; i < n[1]; ++i) ::syscall(SYS_close, -1);
}

// A static probe of three arguments, a number, a text and 7, at this place.
#define STEP(number, text) \
    STATIC_PROBE("gpufs_work", "step", "0", "-4@%0 8@%1 -2@%2", "nor"(number), "r"(text), "i"(7))

// The probe N times with the numbers from 1 down, and M times at another place with those from 100
// on.
void steps(const Numbers& n) {
    volatile int number = 1;
    for (long i = 0; i < n[0]; ++i) {
        STEP(number, "one place");
        number = number - 1;
    }
    for (long i = 0; i < n[1]; ++i) STEP(static_cast<int>(100 + i), "another");
}

// N getpgid calls in each of two threads, one a CPU, each with M different arguments.
void keys(const Numbers& n) {
    const auto run = [&](int cpu) {
        pin(cpu);
        for (long i = 0; i < n[0]; ++i) ::syscall(SYS_getpgid, 10'000'000 + i % n[1]);
    };
    std::thread other(run, 1);
    run(0);
    other.join();
}

// N writes of M bytes each to nowhere.
void writes(const Numbers& n) {
    const int fd = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    const std::string bytes(static_cast<std::size_t>(n[1]), 'x');
    for (long i = 0; i < n[0]; ++i) check(::write(fd, bytes.data(), bytes.size()) == n[1], "write");
}

// N signals SIGUSR1 to itself.
void signals(const Numbers& n) {
    std::signal(SIGUSR1, SIG_IGN);
    for (long i = 0; i < n[0]; ++i) check(::kill(::getpid(), SIGUSR1) == 0, "kill");
}

// Touches N pages of new memory.
void faults(const Numbers& n) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t bytes = static_cast<std::size_t>(n[0]) * page;
    void* memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(memory != MAP_FAILED, "mmap");
    ::madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (std::size_t at = 0; at < bytes; at += page) static_cast<volatile char*>(memory)[at] = 1;
}

// Sleeps N times M ms; prints how many microseconds that took in all.
void sleeps(const Numbers& n) {
    const double begin = seconds(CLOCK_MONOTONIC);
    for (long i = 0; i < n[0]; ++i) {
        const timespec time{n[1] / 1000, n[1] % 1000 * 1'000'000};
        check(::nanosleep(&time, nullptr) == 0, "nanosleep");
    }
    std::fprintf(stderr, "slept %.0f us\n", (seconds(CLOCK_MONOTONIC) - begin) * 1e6);
}

// N ms of CPU time in each of M processes that share one CPU.
void spin(const Numbers& n) {
    pin(0);
    std::vector<pid_t> others;
    for (long i = 1; i < n[1]; ++i) {
        others.push_back(::fork());
        if (others.back() == 0) break;
    }
    while (seconds(CLOCK_PROCESS_CPUTIME_ID) * 1000 < static_cast<double>(n[0])) {
    }
    if (!others.empty() && others.back() == 0) ::_exit(0);
    for (const pid_t pid : others) ::waitpid(pid, nullptr, 0);
}

// Waits until another process sleeps.
void wait_for_sleep(pid_t pid) {
    const std::string path = "/proc/" + std::to_string(pid) + "/stat";
    for (;; ::sched_yield()) {
        std::string stat;
        std::getline(std::ifstream(path), stat);
        const char state = stat.substr(stat.rfind(')') + 1).append("  ")[1];
        if (state == 'S') return;
        check(state != 'Z' && state != ' ', "wait for a process that ended");
    }
}

// Two processes on one CPU that wake each other N times, each asleep in a pipe when the other
// writes; the end of the one may wake the other once more.
void pingpong(const Numbers& n) {
    pin(0);
    // Who is woken does not preempt who woke him, who so comes to sleep first.
    const sched_param lowest{};
    check(::sched_setscheduler(0, SCHED_BATCH, &lowest) == 0, "sched_setscheduler");
    int to[2], back[2];
    check(::pipe(to) == 0 && ::pipe(back) == 0, "pipe");
    const pid_t parent = ::getpid(), child = ::fork();
    char byte = 0;
    if (child == 0) {
        for (long i = 0; i < n[0]; ++i) {
            check(::read(to[0], &byte, 1) == 1, "pong");
            wait_for_sleep(parent);
            check(::write(back[1], &byte, 1) == 1, "pong");
        }
        ::_exit(0);
    }
    for (long i = 0; i < n[0]; ++i) {
        wait_for_sleep(child);
        check(::write(to[1], &byte, 1) == 1 && ::read(back[0], &byte, 1) == 1, "ping");
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    check(status == 0, "pong");
}

// Four threads that map and unmap memory for N ms: they fight over one lock of their process.
void maps(const Numbers& n) {
    const double end = seconds(CLOCK_MONOTONIC) + static_cast<double>(n[0]) / 1000;
    const auto run = [&] {
        while (seconds(CLOCK_MONOTONIC) < end) {
            void* memory = ::mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
            ::munmap(memory, 1 << 16);
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(run);
    for (std::thread& thread : threads) thread.join();
}

// N connections over the loopback device, each closed by the one that asked, and M refused ones.
// Prints the port.
// Whether the kernel still has connections of the port that have not ended. /proc/net/tcp: a line a
// socket, with both ends as ADDRESS:PORT and the state in hexadecimal.
bool has_open_connections(unsigned port) {
    constexpr unsigned kTimeWait = 6, kListen = 10;
    std::FILE* const file = std::fopen("/proc/net/tcp", "r");
    check(file != nullptr, "/proc/net/tcp");
    char line[512];
    bool has_some = false;
    while (std::fgets(line, sizeof line, file)) {
        unsigned from = 0, to = 0, state = 0;
        if (std::sscanf(line, " %*d: %*x:%x %*x:%x %x", &from, &to, &state) != 3) continue;
        const bool is_over = state == kTimeWait || state == kListen;
        has_some |= (from == port || to == port) && !is_over;
    }
    std::fclose(file);
    return has_some;
}

void tcp(const Numbers& n) {
    const int control = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    check(control >= 0, "socket");
    ifreq loopback{};
    std::strcpy(loopback.ifr_name, "lo");
    check(::ioctl(control, SIOCGIFFLAGS, &loopback) == 0, "lo");
    loopback.ifr_flags |= IFF_UP;
    check(::ioctl(control, SIOCSIFFLAGS, &loopback) == 0, "lo up");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const name = reinterpret_cast<sockaddr*>(&address);
    check(::bind(control, name, length) == 0 && ::listen(control, 128) == 0 &&
              ::getsockname(control, name, &length) == 0,
          "listen");
    for (long i = 0; i < n[0]; ++i) {
        const int asks = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        check(::connect(asks, name, length) == 0, "connect");
        const int answers = ::accept(control, nullptr, nullptr);
        check(answers >= 0, "accept");
        ::close(asks);
        ::close(answers);
    }
    // What is sent to a socket that is closed is looked at later where the machine is busy.
    while (has_open_connections(ntohs(address.sin_port))) ::usleep(1000);
    std::fprintf(stderr, "port %d\n", ntohs(address.sin_port));
    ::close(control);
    for (long i = 0; i < n[1]; ++i) {
        const int asks = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        check(::connect(asks, name, length) == -1 && errno == ECONNREFUSED, "refuse");
        ::close(asks);
    }
}

// N writes of one block to a file or device, past the page cache.
void blocks(const char* path, long count) {
    constexpr std::size_t kBlock = 4096;
    const int fd = ::open(path, O_WRONLY | O_DIRECT | O_CLOEXEC);
    check(fd >= 0, path);
    void* bytes = std::aligned_alloc(kBlock, kBlock);
    std::memset(bytes, 1, kBlock);
    for (long i = 0; i < count; ++i)
        check(::pwrite(fd, bytes, kBlock, static_cast<off_t>(i * 2 * 4096)) == kBlock, "pwrite");
    std::free(bytes);
}

// N calls that want to make what is there.
// A child starts a program by constants that neither of them has looked at: they are not in memory.
void execs(const Numbers& n) {
    for (long i = 0; i < n[0]; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::execl("/bin/true", "true", "never looked at", "before", nullptr);
            ::_exit(1);
        }
        int status = 0;
        if (::waitpid(child, &status, 0) != child || status != 0)
            throw std::runtime_error("the child failed");
    }
}

void makes(const Numbers& n) {
    open_how how = {};
    how.flags = O_WRONLY | O_CREAT | O_EXCL;
    for (long i = 0; i < n[0]; ++i)
        check(::syscall(SYS_openat2, AT_FDCWD, "/dev/null", &how, sizeof how) == -1 &&
                  errno == EEXIST,
              "openat2");
}

// N times calls whose arguments and results are known, and one of a second thread.
void texts(const Numbers& n) {
    const std::string longest(255, 'x');
    for (long i = 0; i < n[0]; ++i) {
        ::syscall(SYS_openat, AT_FDCWD, "/no/\"such\"\tfile\\", O_RDONLY, 0);
        ::syscall(SYS_openat, -1, longest.c_str(), O_WRONLY | O_CREAT, 0640);
        ::syscall(SYS_openat, -1, (longest + 'y').c_str(), O_RDONLY, 0);
        ::syscall(SYS_openat, -1, 16, O_RDONLY, 0);
        ::syscall(SYS_renameat, AT_FDCWD, "/no/from", AT_FDCWD, "/no/to");
        int ends[2];
        check(::pipe(ends) == 0, "pipe");
        ::syscall(SYS_write, ends[1], "a\0b\n", 4);
        char bytes[100];
        ::syscall(SYS_read, ends[0], bytes, sizeof bytes);
        ::syscall(SYS_lseek, ends[0], -5L, SEEK_SET);
        ::syscall(SYS_getppid);
        std::thread([] { ::syscall(SYS_openat, AT_FDCWD, "/no/thread", O_RDONLY, 0); }).join();
        ::close(ends[0]);
        ::close(ends[1]);
    }
}

#if defined __x86_64__
// N getpid calls as a 32-bit program makes them.
void compat(const Numbers& n) {
    for (long i = 0; i < n[0]; ++i) {
        long result = 20;
        asm volatile("int $0x80"
                     : "+a"(result)
                     : "b"(1), "c"(2), "d"(3), "S"(4), "D"(5)
                     : "memory");
    }
}
#endif

// COUNT: asks for its parent so often, in a function of a long name.
void long_symbol(const Numbers& numbers) {
    for (long i = 0; i < numbers[0]; ++i) asks_under_a_long_name();
}

// STATUS: lets its parent trace it and becomes a shell, which ends with that status.
void traced(const Numbers& numbers) {
    check(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0, "ptrace");
    const std::string script = "exit " + std::to_string(numbers[0]);
    check(::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr) == 0, "execl");
}

const std::map<std::string, works::Work> kWorks = {
    {"long-symbol", {1, long_symbol}},
    {"calls", {2, calls}},
    {"keys", {2, keys}},
    {"writes", {2, writes}},
    {"signals", {1, signals}},
    {"faults", {1, faults}},
    {"sleeps", {2, sleeps}},
    {"spin", {2, spin}},
    {"pingpong", {1, pingpong}},
    {"maps", {1, maps}},
    {"tcp", {2, tcp}},
    {"steps", {2, steps}},
    {"makes", {1, makes}},
    {"execs", {1, execs}},
    {"traced", {1, traced}},
    {"texts", {1, texts}},
#if defined __x86_64__
    {"compat", {1, compat}},
#endif
};

}  // namespace

int main(int argc, char** argv) try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() == 3 && words[0] == "blocks") {
        blocks(words[1].c_str(), std::stol(words[2]));
        return 0;
    }
    works::run(kWorks, words);
    return 0;
} catch (const std::exception& e) {
    std::fprintf(stderr, "gpufs-work: %s\n", e.what());
    return 1;
}
