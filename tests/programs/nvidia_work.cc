// Work for the toy of NVIDIA's driver in tests/guests/modules.
//
//   gpufs-nvidia-work WHAT [NUMBER...]
//
// Ends with status 0 when it did exactly what it was told to.

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <thread>

#include "guests/modules/toy_nvidia.h"
#include "works.h"

namespace {

using works::check;
using works::Numbers;

constexpr unsigned kControl = 255;  // the minor number of nvidiactl

// A device of the driver, opened.
class Device {
public:
    explicit Device(unsigned minor) {
        const std::string node = "/dev/gpufs-nvidia-" + std::to_string(::getpid());
        check(::mknod(node.c_str(), S_IFCHR | 0600, makedev(NV_MAJOR, minor)) == 0, node);
        fd_ = ::open(node.c_str(), O_RDWR | O_CLOEXEC);
        const int code = errno;
        ::unlink(node.c_str());
        errno = code;
    }
    explicit Device(const char* path) : fd_(::open(path, O_RDWR | O_CLOEXEC)) {
        check(fd_ >= 0, path);
    }
    ~Device() {
        if (fd_ >= 0) ::close(fd_);
    }
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    bool is_open() const { return fd_ >= 0; }

    int call(unsigned long command, void* argument) const {
        return ::ioctl(fd_, command, argument);
    }
    void must(unsigned long command, void* argument) const {
        check(call(command, argument) == 0, "ioctl");
    }
    // RM_CONTROL, which takes so many microseconds and answers with the status.
    void control(unsigned command, unsigned us = 0, unsigned status = 0) const {
        nv_control request = control_of(command, us, status);
        must(NV_IOCTL(NV_CONTROL, nv_control), &request);
    }
    static nv_control control_of(unsigned command, unsigned us, unsigned status) {
        nv_control request{};
        request.object = status;
        request.command = command;
        request.flags = us;
        return request;
    }
    void alloc(unsigned class_id, unsigned status = 0) const {
        nv_alloc request{};
        request.object = status;
        request.class_id = class_id;
        must(NV_IOCTL(NV_ALLOC, nv_alloc), &request);
    }
    void alloc_with_rights(unsigned class_id, unsigned status = 0) const {
        nv_alloc_with_rights request{};
        request.object = status;
        request.class_id = class_id;
        must(NV_IOCTL(NV_ALLOC, nv_alloc_with_rights), &request);
    }
    void map(std::size_t bytes) const {
        void* at = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd_, 0);
        check(at != MAP_FAILED, "mmap");
        ::munmap(at, bytes);
    }
    // Maps memory and reads a byte of each page.
    void touch(std::size_t pages) const {
        const std::size_t bytes = pages * 4096;
        void* at = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd_, 0);
        check(at != MAP_FAILED, "mmap");
        const auto* first = static_cast<const volatile char*>(at);
        for (std::size_t page = 0; page < pages; ++page)
            check(first[page * 4096] == 0, "memory of the device");
        ::munmap(at, bytes);
    }
    void poll(int times) const {
        for (int i = 0; i < times; ++i) {
            pollfd one{fd_, POLLIN, 0};
            check(::poll(&one, 1, -1) == 1, "poll");
        }
    }
    void happens(const toy_uvm_event& event) const {
        check(::write(fd_, &event, sizeof event) == sizeof event, "write");
    }

private:
    int fd_ = -1;
};

template <class Do>
void times(long count, const Do& action) {
    for (long i = 0; i < count; ++i) action();
}

void calls() {
    const Device gpu(0u), again(0u), second(1u), control(kControl);
    { const Device briefly(0u); }
    check(!Device(200u).is_open() && errno == ENODEV, "open of no GPU");
    times(5, [&] { gpu.control(0x20800102, 20'000); });
    times(3, [&] { control.control(0x2080018d); });
    times(2, [&] { second.control(0x20809999); });
    times(2, [&] { control.control(0x201, 0, 0x56); });
    nv_control fails = Device::control_of(0x202, 0, TOY_FAILS);
    check(gpu.call(NV_IOCTL(NV_CONTROL, nv_control), &fails) == -1 && errno == EINVAL, "failure");
    times(4, [&] { gpu.alloc(0x80); });
    times(2, [&] { gpu.alloc_with_rights(0xc56f); });
    gpu.alloc_with_rights(0xabcd, 0x51);
    nv_free free{};
    times(3, [&] { gpu.must(NV_IOCTL(NV_ALLOC_FREE, nv_free), &free); });
    char cards[72];
    control.must(NV_IOCTL(NV_CARD_INFO, char[72]), cards);
    nv_control inner = Device::control_of(0x20801303, 0, 0);
    nv_transfer outer{NV_CONTROL, sizeof inner, reinterpret_cast<__u64>(&inner)};
    times(2, [&] { gpu.must(NV_IOCTL(NV_TRANSFER, nv_transfer), &outer); });
    std::thread other([&] { times(7, [&] { gpu.control(0x214); }); });
    other.join();
    times(2, [&] { gpu.map(8192); });
    second.map(4096);
    gpu.poll(6);
    second.poll(1);
    // An ioctl of the same type that is none of NVIDIA's: a framebuffer's.
    gpu.call(_IO('F', 0), nullptr);
}

// Keeps a device open until process `other` has ended.
void stay(pid_t other) {
    const Device gpu(0u);
    if (::fork() != 0) return;
    for (const int fd : {0, 1, 2}) ::close(fd);
    while (::kill(other, 0) == 0) ::usleep(20'000);
    ::_exit(0);
}

void managed() {
    const Device uvm("/dev/nvidia-uvm");
    times(2, [&] { uvm.must(UVM_MIGRATE, nullptr); });
    check(uvm.call(4711, nullptr) == -1, "unknown ioctl");
    uvm.map(16384);
    toy_uvm_event fault{};
    fault.event = 6;
    fault.address = 0x7f0000001000;
    fault.is_write = 1;
    times(3, [&] { uvm.happens(fault); });
    fault.is_write = 0;
    times(2, [&] { uvm.happens(fault); });
    fault.processor = 2;
    fault.address = 0x7f0000002000;
    fault.in_thread = 1;
    times(4, [&] { uvm.happens(fault); });
    fault.is_duplicate = 1;
    times(2, [&] { uvm.happens(fault); });
    toy_uvm_event migration{};
    migration.event = 7;
    migration.address = 0x7f0000003000;
    migration.bytes = 65536;
    migration.to = 1;
    migration.cause = 6;
    times(2, [&] { uvm.happens(migration); });
    migration.in_thread = 1;
    migration.cause = 0;
    times(3, [&] { uvm.happens(migration); });
    migration.processor = 1;
    migration.to = 0;
    migration.cause = 4;
    migration.bytes = 2 << 20;
    uvm.happens(migration);
    toy_uvm_event other{};
    other.event = 8;  // neither
    uvm.happens(other);
}

void set(const char* parameter, long number) {
    std::ofstream file(std::string("/sys/module/nvidia/parameters/") + parameter);
    file << number << std::flush;
    check(file.good(), parameter);
}

void interrupts(long of_first, long of_second) {
    times(of_first, [] { set("interrupt", 0); });
    times(of_second, [] { set("interrupt", 1); });
}

// As the driver does it itself, as the kernel asks for it, and to save power meanwhile.
void sleeps(long us) {
    set("suspend", us);
    set("suspend", 0);
    set("runtime", 1);
}

// N pages of the device's memory are read, it is asked M times whether it is ready, and L of its
// pages go to another driver.
void memory(long pages, long polls, long peers) {
    const Device gpu(0u);
    gpu.touch(static_cast<std::size_t>(pages));
    gpu.poll(static_cast<int>(polls));
    set("p2p", peers);
}

const std::map<std::string, works::Work> kWorks = {
    {"memory", {3, [](const Numbers& n) { memory(n[0], n[1], n[2]); }}},
    {"calls", {0, [](const Numbers&) { calls(); }}},
    {"managed", {0, [](const Numbers&) { managed(); }}},
    {"stay", {0, [](const Numbers&) { stay(::getppid()); }}},
    // Of GPU 0, of GPU 1.
    {"interrupts", {2, [](const Numbers& n) { interrupts(n[0], n[1]); }}},
    // Microseconds for suspend and for resume.
    {"sleep", {1, [](const Numbers& n) { sleeps(n[0]); }}},
    {"report", {1, [](const Numbers& n) { set("report", n[0]); }}},
    {"all",
     {0,
      [](const Numbers&) {
          calls();
          managed();
          interrupts(3, 2);
          sleeps(20'000);
          set("lend", 3 << 20);
          set("lend", 1 << 20);
          set("report", 79);
          stay(::getppid());
      }}},
};

}  // namespace

int main(int argc, char** argv) {
    return works::run_main(kWorks, argc, argv);
}
