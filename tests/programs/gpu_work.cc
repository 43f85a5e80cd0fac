// Work for the toy GPU and the toy displays of tests/guests/modules, and what they say of it.
//
//   gpufs-gpu-work WHAT [NUMBER...]
//
// What the device saw goes to stderr, a line each:
//   job RING CONTEXT SEQNO QUEUED_NS BEGAN_NS ENDED_NS DEP_CONTEXT DEP_SEQNO
//   waited NS
//   frames DISPLAY IRQS MISSED
//   frame DISPLAY SEQ
// Ends with status 0 when it did exactly what it was told to.

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "guests/modules/toy_gpu.h"
#include "works.h"

namespace {

using works::check;
using works::Numbers;

std::uint64_t now_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
}

void sleep_until(std::uint64_t when_ns) {
    const timespec when{static_cast<time_t>(when_ns / 1'000'000'000),
                        static_cast<long>(when_ns % 1'000'000'000)};
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr) == EINTR) {
    }
}

class Gpu {
public:
    Gpu() : fd_(::open("/dev/toy_gpu", O_RDWR | O_CLOEXEC)) { check(fd_ >= 0, "/dev/toy_gpu"); }

    void submit(unsigned ring, long exec_us, unsigned after = TOY_NO_RING, __u32 hangs = 0) {
        toy_submit request{ring, static_cast<__u32>(exec_us), after, hangs};
        check(::ioctl(fd_, TOY_SUBMIT, &request) == 0, "submit");
    }
    void move(long exec_us) {
        toy_submit request{TOY_SDMA, static_cast<__u32>(exec_us), TOY_NO_RING, 0};
        check(::ioctl(fd_, TOY_MOVE, &request) == 0, "move");
    }
    void wait(__u32 ring) { check(::ioctl(fd_, TOY_WAIT, &ring) == 0, "wait"); }
    void end(__u32 ring) { check(::ioctl(fd_, TOY_END, &ring) == 0, "end"); }
    void kill(__u32 ring) { check(::ioctl(fd_, TOY_KILL, &ring) == 0, "kill"); }

    // All jobs of this client, as the device saw them.
    void tell() {
        constexpr const char* kNames[] = {"gfx", "compute", "sdma"};
        std::vector<toy_job> jobs(512);
        for (;;) {
            const ssize_t bytes = ::read(fd_, jobs.data(), jobs.size() * sizeof(toy_job));
            check(bytes >= 0, "read");
            if (bytes == 0) return;
            for (std::size_t i = 0; i < static_cast<std::size_t>(bytes) / sizeof(toy_job); ++i) {
                const toy_job& job = jobs[i];
                std::fprintf(stderr, "job %s %llu %llu %llu %llu %llu %llu %llu\n",
                             kNames[job.ring], job.context, job.seqno, job.queued_ns, job.began_ns,
                             job.ended_ns, job.dep_context, job.dep_seqno);
            }
        }
    }

private:
    int fd_;
};

// N jobs on each of the first R rings, M a second, each of which works L us.
void jobs_on(unsigned rings, const Numbers& n) {
    Gpu gpu;
    const std::uint64_t begin = now_ns();
    for (long i = 0; i < n[0]; ++i) {
        sleep_until(begin + static_cast<std::uint64_t>(i * (1'000'000'000 / n[1])));
        for (unsigned ring = 0; ring < rings; ++ring) gpu.submit(ring, n[2]);
    }
    for (unsigned ring = 0; ring < rings; ++ring) gpu.wait(ring);
    std::fprintf(stderr, "took %llu us\n",
                 static_cast<unsigned long long>((now_ns() - begin) / 1000));
    gpu.tell();
}

void jobs(const Numbers& n) {
    jobs_on(TOY_RINGS, n);
}
void one_ring(const Numbers& n) {
    jobs_on(1, n);
}

// N times a job on gfx, one on compute that depends on it, and one on sdma that depends on that;
// each works M us, the first until the others wait, too.
void chain(const Numbers& n) {
    Gpu gpu;
    for (long i = 0; i < n[0]; ++i) {
        gpu.submit(TOY_GFX, 0, TOY_NO_RING, TOY_HELD);
        gpu.submit(TOY_COMPUTE, n[1], TOY_GFX);
        gpu.submit(TOY_SDMA, n[1], TOY_COMPUTE);
        sleep_until(now_ns() + static_cast<std::uint64_t>(n[1]) * 1000);
        gpu.end(TOY_GFX);
        gpu.wait(TOY_SDMA);
    }
    gpu.tell();
}

// A job that hangs until the scheduler ends it, and N behind it that do not.
void hang(const Numbers& n) {
    Gpu gpu;
    gpu.submit(TOY_GFX, 0, TOY_NO_RING, 1);
    for (long i = 0; i < n[0]; ++i) gpu.submit(TOY_GFX, 100);
    gpu.wait(TOY_GFX);
    gpu.tell();
}

// N jobs of M us on gfx, whose queue is destroyed while the first of them work; one on compute that
// ends.
void kill(const Numbers& n) {
    Gpu gpu;
    for (long i = 0; i < n[0]; ++i) gpu.submit(TOY_GFX, n[1]);
    sleep_until(now_ns() + static_cast<std::uint64_t>(n[1]) * 1000);
    gpu.kill(TOY_GFX);
    gpu.wait(TOY_GFX);
    gpu.submit(TOY_COMPUTE, n[1]);
    gpu.wait(TOY_COMPUTE);
    // What the ring had begun ends.
    sleep_until(now_ns() + static_cast<std::uint64_t>(n[0] * n[1] + 10'000) * 1000);
    gpu.tell();
}

// Ends while a child of its waits for a job that hangs.
void stuck(const Numbers&) {
    Gpu gpu;
    gpu.submit(TOY_GFX, 0, TOY_NO_RING, 1);
    int ready[2];
    check(::pipe(ready) == 0, "pipe");
    if (::fork() == 0) {
        ::close(ready[0]);
        ::close(ready[1]);
        gpu.wait(TOY_GFX);
        ::_exit(0);
    }
    ::close(ready[1]);
    char none = 0;
    check(::read(ready[0], &none, 1) == 0, "ready");
    sleep_until(now_ns() + 50'000'000);
}

// N times a job of M us, and a wait for it.
void waits(const Numbers& n) {
    Gpu gpu;
    for (long i = 0; i < n[0]; ++i) {
        gpu.submit(TOY_COMPUTE, n[1]);
        const std::uint64_t begin = now_ns();
        gpu.wait(TOY_COMPUTE);
        std::fprintf(stderr, "waited %llu\n", static_cast<unsigned long long>(now_ns() - begin));
    }
}

// N moves of a buffer, each of which takes M us here and M us on sdma, and a wait for it.
void moves(const Numbers& n) {
    Gpu gpu;
    for (long i = 0; i < n[0]; ++i) {
        gpu.move(n[1]);
        gpu.wait(TOY_SDMA);
    }
}

// A child has 8 jobs of M us on gfx; behind them is one of this process, which waits for it.
void behind(const Numbers& n) {
    int done[2];
    check(::pipe(done) == 0, "pipe");
    const pid_t child = ::fork();
    check(child >= 0, "fork");
    char byte = 0;
    if (child == 0) {
        Gpu other;
        for (int i = 0; i < 8; ++i) other.submit(TOY_GFX, n[0]);
        if (::write(done[1], &byte, 1) == 1) other.wait(TOY_GFX);
        ::_exit(0);
    }
    check(::read(done[0], &byte, 1) == 1, "other");
    Gpu gpu;
    gpu.submit(TOY_GFX, n[0]);
    gpu.wait(TOY_GFX);
    gpu.tell();
}

// DRM_IOCTL_WAIT_VBLANK and its answer, as the kernel's drm.h lays them out.
struct WaitVblank {
    std::uint32_t type, sequence;
    std::uint64_t signal, unused;
};
struct VblankEvent {
    std::uint32_t type, length;
    std::uint64_t user_data;
    std::uint32_t tv_sec, tv_usec, sequence, crtc_id;
};
constexpr unsigned long kWaitVblank = _IOWR('d', 0x3a, WaitVblank);
constexpr std::uint32_t kRelative = 1, kEvent = 0x4000000, kCrtcShift = 1;

// What the module says or is told.
std::string parameter(const char* name) {
    return std::string("/sys/module/toy_display/parameters/") + name;
}
std::vector<long> read_numbers(const char* name) {
    std::ifstream file(parameter(name));
    std::vector<long> numbers;
    for (std::string one; std::getline(file, one, ',');) numbers.push_back(std::stol(one));
    check(!numbers.empty(), name);
    return numbers;
}
void set(const char* name, const std::string& value) {
    std::ofstream file(parameter(name));
    file << value << std::flush;
    check(file.good(), name);
}

// The toy display's first card, or second.
int open_display(int number = 0) {
    for (int i = 0; i < 16; ++i) {
        const std::string card = "card" + std::to_string(i);
        char target[256] = {};
        const auto length =
            ::readlink(("/sys/class/drm/" + card + "/device").c_str(), target, sizeof target - 1);
        if (length <= 0 || !std::strstr(target, "toy_display") || number-- != 0) continue;
        const int fd = ::open(("/dev/dri/" + card).c_str(), O_RDWR | O_CLOEXEC);
        check(fd >= 0, card);
        return fd;
    }
    throw std::runtime_error("no toy display");
}

// Asks for the display's next frame, or one behind it, and waits for it; its number.
std::uint32_t wait_for_frame(int fd, std::size_t display, std::uint32_t behind = 1) {
    WaitVblank wait{kRelative | kEvent | (static_cast<std::uint32_t>(display) << kCrtcShift),
                    behind, 0, 0};
    check(::ioctl(fd, kWaitVblank, &wait) == 0, "wait for vblank");
    VblankEvent event{};
    check(::read(fd, &event, sizeof event) == sizeof event, "vblank event");
    return event.sequence;
}

// N frames of display M, each asked for and waited for; of the display's interrupts L are lost
// halfway, and each comes K us late.
void frames(const Numbers& n) {
    const int fd = open_display();
    const std::size_t display = static_cast<std::size_t>(n[1]);
    const long irqs = read_numbers("irqs").at(display);
    const long missed = read_numbers("missed").at(display);
    set("late_us", std::to_string(n[3]));
    sleep_until(now_ns() + 50'000'000);  // the interrupt that is under way comes without
    set("run", "1");
    for (long i = 0; i < n[0]; ++i) {
        if (i == n[0] / 2 && n[2] != 0)
            set("skip", display == 0 ? std::to_string(n[2]) + ",0" : "0," + std::to_string(n[2]));
        std::fprintf(stderr, "frame %zu %u\n", display, wait_for_frame(fd, display));
    }
    set("run", "0");
    sleep_until(now_ns() + 50'000'000);
    set("late_us", "0");
    std::fprintf(stderr, "frames %zu %ld %ld\n", display, read_numbers("irqs").at(display) - irqs,
                 read_numbers("missed").at(display) - missed);
}

// N times the third frame from then of the second card's third display, whose interrupts are off
// between: M us, in which its frames go on. Tells how long it waited for them.
void idle(const Numbers& n) {
    constexpr std::size_t kDisplay = 2;
    const int fd = open_display(1);
    const long irqs = read_numbers("irqs").at(kDisplay);
    const long missed = read_numbers("missed").at(kDisplay);
    std::uint64_t waited = 0;
    set("run", "1");
    for (long i = 0; i < n[0]; ++i) {
        const std::uint64_t begin = now_ns();
        std::fprintf(stderr, "frame %zu %u\n", kDisplay, wait_for_frame(fd, kDisplay, 3));
        waited += now_ns() - begin;
        sleep_until(now_ns() + static_cast<std::uint64_t>(n[1]) * 1000);
    }
    set("run", "0");
    std::fprintf(stderr, "waited %llu\n", static_cast<unsigned long long>(waited));
    std::fprintf(stderr, "frames %zu %ld %ld\n", kDisplay, read_numbers("irqs").at(kDisplay) - irqs,
                 read_numbers("missed").at(kDisplay) - missed);
}

// N frames of the second card's second display; then M more of it, each with one of the first's.
void cards(const Numbers& n) {
    const int first = open_display(0), second = open_display(1);
    set("run", "1");
    for (long i = 0; i < n[0]; ++i) wait_for_frame(second, 1);
    for (long i = 0; i < n[1]; ++i) {
        wait_for_frame(second, 1);
        wait_for_frame(first, 1);
    }
    set("run", "0");
}

const std::map<std::string, works::Work> kWorks = {
    {"jobs", {3, jobs}},     {"one-ring", {3, one_ring}}, {"chain", {2, chain}},
    {"hang", {1, hang}},     {"kill", {2, kill}},         {"waits", {2, waits}},
    {"frames", {4, frames}}, {"stuck", {0, stuck}},       {"cards", {2, cards}},
    {"idle", {2, idle}},     {"moves", {2, moves}},       {"behind", {1, behind}},
};

}  // namespace

int main(int argc, char** argv) {
    return works::run_main(kWorks, argc, argv);
}
