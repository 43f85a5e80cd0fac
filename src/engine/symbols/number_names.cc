#include "engine/symbols/number_names.h"

#include <arpa/inet.h>

#include <csignal>
#include <cstring>
#include <iterator>

#include "base/cat.h"
#include "kernel/host/block_devices.h"
#include "kernel/host/interrupts.h"
#include "kernel/host/syscall_names.h"

namespace gpufs {

std::string syscall_text(std::int64_t number) {
    if (number > 0 && (number & kCompatCall) != 0)
        return cat("32-bit call ", number & ~kCompatCall);
    const std::string_view name = syscall_name(static_cast<long>(number));
    return name.empty() ? cat(number) : std::string(name);
}

std::string errno_text(std::int64_t error) {
    const std::int64_t positive = error < 0 ? -error : error;
    // include/linux/errno.h: of calls that a signal interrupts, before they begin again.
    constexpr const char* kRestarts[] = {"ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND",
                                         "ENOIOCTLCMD", "ERESTART_RESTARTBLOCK"};
    constexpr std::int64_t kFirst = 512;
    if (positive >= kFirst && positive < kFirst + std::ssize(kRestarts))
        return kRestarts[positive - kFirst];
    const char* name =
        positive > 0 && positive < 4096 ? ::strerrorname_np(static_cast<int>(positive)) : nullptr;
    return name ? name : cat(error);
}

std::string signal_text(std::int64_t signal) {
    // The kernel's SIGRTMIN is 32; glibc's is 34.
    constexpr int kRealTime = 32, kMost = 64;
    if (signal >= kRealTime && signal <= kMost)
        return signal == kRealTime ? "SIGRTMIN" : cat("SIGRTMIN+", signal - kRealTime);
    const char* name =
        signal > 0 && signal < kRealTime ? ::sigabbrev_np(static_cast<int>(signal)) : nullptr;
    return name ? cat("SIG", name) : cat(signal);
}

std::string device_text(std::uint32_t dev) {
    constexpr unsigned kMinorBits = 20;  // include/linux/kdev_t.h
    const unsigned major = dev >> kMinorBits, minor = dev & ((1u << kMinorBits) - 1);
    const std::string name = block_device_name(major, minor);
    return name.empty() ? cat(major, ':', minor) : name;
}

std::string device_of_interrupt(std::uint32_t irq) {
    return interrupt_device(irq);
}

std::string ip_text(std::span<const std::byte> address) {
    constexpr unsigned char kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    char text[INET6_ADDRSTRLEN] = "";
    const bool is_v4 = std::memcmp(address.data(), kMapped, sizeof kMapped) == 0;
    ::inet_ntop(is_v4 ? AF_INET : AF_INET6, address.data() + (is_v4 ? sizeof kMapped : 0), text,
                sizeof text);
    return text;
}

}  // namespace gpufs
