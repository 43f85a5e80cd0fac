// What `make bench` measures with, so that every tool is measured alike.
//
//   probe calls N CPU        N cheap system calls on one CPU: prints nanoseconds a call, the median
//   of
//                            20 parts
//   probe keys N             N system calls, each with another argument
//   probe frames N COUNT     so many calls of bench_tick() under N frames, once a line is typed
//   probe libraries COUNT    maps the COUNT largest libraries of the system, says how large they
//                            are, and waits for the end of its stdin
//   probe start [-i] COMMAND...   prints milliseconds to the first byte on its stdout, milliseconds
//                            to its end, peak RSS in kB; -i: SIGINT after the first byte

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (::sched_setaffinity(0, sizeof set, &set) != 0) throw std::runtime_error("cannot pin");
}

void calls(long count, int cpu) {
    constexpr int kParts = 20;
    pin(cpu);
    std::vector<double> parts;
    for (int part = 0; part < kParts; ++part) {
        const auto begin = Clock::now();
        for (long i = 0; i < count / kParts; ++i) ::syscall(SYS_getppid);
        parts.push_back(ms_since(begin) * 1e6 / static_cast<double>(count / kParts));
    }
    std::ranges::sort(parts);
    std::fprintf(stderr, "%.1f ns a call\n", parts[kParts / 2]);
}

void keys(long count) {
    for (long i = 0; i < count; ++i) ::syscall(SYS_getpgid, i + 1'000'000);
}

}  // namespace

extern "C" __attribute__((noinline, noclone)) void bench_tick() {
    asm volatile("");
}

namespace {

// NOLINTNEXTLINE(misc-no-recursion): it is what is measured
__attribute__((noinline)) long frames(long left, long count) {
    if (left > 1) {
        long below = frames(left - 1, count);
        asm volatile("" : "+r"(below));  // no tail call
        return below + 1;
    }
    for (long i = 0; i < count; ++i) bench_tick();
    return 1;
}

// But what replaces malloc(), and what is for programs that are compiled for it.
void libraries(std::size_t count) {
    constexpr const char* kLeftOut[] = {"san", "malloc", "memusage", "pcprofile", "SegFault"};
    std::vector<std::pair<std::uintmax_t, std::string>> all;
    for (const auto& file : std::filesystem::directory_iterator("/usr/lib/x86_64-linux-gnu")) {
        const std::string name = file.path().filename();
        if (!file.is_regular_file() || name.find(".so") == name.npos) continue;
        if (std::ranges::any_of(kLeftOut,
                                [&](const char* one) { return name.find(one) != name.npos; }))
            continue;
        all.emplace_back(file.file_size(), file.path());
    }
    std::ranges::sort(all, std::greater());
    std::size_t mapped = 0;
    std::uintmax_t bytes = 0;
    for (const auto& [size, path] : all) {
        if (mapped == count) break;
        if (!::dlopen(path.c_str(), RTLD_LAZY)) continue;
        ++mapped;
        bytes += size;
    }
    std::printf("%zu libraries of %ju MB\n", mapped, bytes >> 20);
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
}

void start(std::vector<char*> command) {
    const bool interrupts = std::strcmp(command.at(0), "-i") == 0;
    if (interrupts) command.erase(command.begin());
    command.push_back(nullptr);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    const auto begin = Clock::now();
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::dup2(ends[1], STDOUT_FILENO);
        ::execvp(command[0], command.data());
        std::perror(command[0]);
        ::_exit(127);
    }
    ::close(ends[1]);
    char buffer[65536];
    double first = -1;
    for (;;) {
        const ssize_t n = ::read(ends[0], buffer, sizeof buffer);
        if (n <= 0) break;
        if (first < 0) {
            first = ms_since(begin);
            if (interrupts) ::kill(pid, SIGINT);
        }
    }
    int status = 0;
    rusage used{};
    ::wait4(pid, &status, 0, &used);
    std::printf("%.2f %.2f %ld\n", first, ms_since(begin), used.ru_maxrss);
}

}  // namespace

int main(int argc, char** argv) try {
    const std::vector<char*> args(argv + 1, argv + argc);
    const std::string what = args.at(0);
    if (what == "calls")
        calls(std::atol(args.at(1)), std::atoi(args.at(2)));
    else if (what == "keys")
        keys(std::atol(args.at(1)));
    else if (what == "frames" && std::getchar() != EOF)
        frames(std::atol(args.at(1)), std::atol(args.at(2)));
    else if (what == "libraries")
        libraries(std::stoul(args.at(1)));
    else if (what == "start")
        start({args.begin() + 1, args.end()});
    else
        throw std::runtime_error("calls, keys, frames, libraries or start");
} catch (const std::exception& e) {
    std::fprintf(stderr, "probe: %s\n", e.what());
    return 2;
}
