#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace gpufs {

// Names of things that the kernel numbers. Without a known name, the text is the number.

// In a system call's number: it is that of a 32-bit program's, which mean other calls
// (bpf_asm/lib/compat.bpf).
inline constexpr std::int64_t kCompatCall = 1 << 29;
// "openat", "32-bit call 5"
std::string syscall_text(std::int64_t number);
// Does a result in the kernel's way tell an error? -4095 and more do, what is less is an address
// (IS_ERR_VALUE() of include/linux/err.h).
constexpr bool is_error_result(std::int64_t result) {
    constexpr std::int64_t kMaxErrno = 4095;
    return result < 0 && result >= -kMaxErrno;
}
// "ENOENT" for both 2 and -2; "0".
std::string errno_text(std::int64_t error);
// "SIGKILL", "SIGRTMIN+3"
std::string signal_text(std::int64_t signal);
// A block device by the kernel's own dev_t, with 20 bits of minor number: "sda1", or "8:1" if this
// machine has no such device.
std::string device_text(std::uint32_t dev);
// The PCI device that has an interrupt, "0000:3b:00.0"; empty if none has it.
std::string device_of_interrupt(std::uint32_t irq);
// "192.0.2.1" or "2001:db8::1", from 16 bytes in network order.
std::string ip_text(std::span<const std::byte> address);

}  // namespace gpufs
