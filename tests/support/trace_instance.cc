#include "support/trace_instance.h"

#include <fcntl.h>
#include <linux/in.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/error.h"
#include "base/file.h"

namespace gpufs::test {

using namespace std::chrono_literals;

const Tracefs& top() {
    static const Tracefs tracefs("/sys/kernel/tracing");
    return tracefs;
}

int scaled(int rounds) {
    return std::getenv("GPUFS_VM_OUT") ? std::max(3, rounds / 10) : rounds;
}

TraceInstance::TraceInstance() : tracefs_(session_.directory()) {
    check(::mkdir(session_.directory().c_str(), 0750), [] { return "make an instance"; });
    set("tracing_on", "0");
    set("buffer_size_kb", std::to_string(scaled(12000)));
    if (!hashes_pointers() && tracefs_.has("options/hash-ptr")) set("options/hash-ptr", "0");
}

void TraceInstance::enable(const std::vector<std::string>& events) const {
    for (const std::string& event : events)
        if (tracefs_.has(cat("events/", event, "/enable")))
            set(cat("events/", event, "/enable"), "1");
}

void TraceInstance::mark(const std::string& text) const {
    const Fd fd = open_file(tracefs_.path("trace_marker"), O_WRONLY);
    write_all(fd.get(), text, "trace_marker");
}

bool TraceInstance::hashes_pointers() {
    utsname name{};
    ::uname(&name);
    return std::string_view(name.release).starts_with("6.1.");
}

void keep_busy(const TraceInstance& instance, int rounds) {
    rounds = scaled(rounds);
    const auto some_of_everything = [&](int cpu) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        ::sched_setaffinity(0, sizeof set, &set);
        const std::string path = cat("/tmp/gpufs-busy.", ::getpid(), '.', cpu);
        for (int i = 0; i < rounds; ++i) {
            ::getppid();
            struct stat s;
            ::stat("/proc/self/status", &s);
            ::prctl(PR_SET_NAME, cat("busy ", cpu, i % 2 ? "-odd" : "-even").c_str());
            ::sched_yield();
            std::this_thread::sleep_for(100us);
            void* page =
                ::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            *static_cast<volatile char*>(page) = 1;
            ::munmap(page, 8192);
            instance.mark(cat("round ", i, " on ", cpu, '\n'));
            if (i % 10 != 0) continue;
            const int fd = ::open(path.c_str(), O_CREAT | O_RDWR | O_TRUNC, 0600);
            [[maybe_unused]] const auto n = ::write(fd, "text", 4);
            ::fsync(fd);
            ::close(fd);
            ::unlink(path.c_str());
            const int from = ::socket(AF_INET, SOCK_DGRAM, 0);
            sockaddr_in to{};
            to.sin_family = AF_INET;
            to.sin_port = 9 << 8;             // port 9, in network order
            to.sin_addr.s_addr = 0x0100007f;  // 127.0.0.1
            ::sendto(from, "x", 1, 0, reinterpret_cast<sockaddr*>(&to), sizeof to);
            ::close(from);
            const pid_t child = ::fork();
            if (child == 0) ::_exit(3);
            ::kill(child, 0);
            ::waitpid(child, nullptr, 0);
        }
    };
    std::vector<std::thread> threads;
    for (int cpu = 0; cpu < 2; ++cpu) threads.emplace_back(some_of_everything, cpu);
    for (std::thread& t : threads) t.join();
}

}  // namespace gpufs::test
