#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace gpufs {

// What people call the things that kernels number. What has no name here is its number.

// "openat"
std::string syscall_text(std::int64_t number);
// "ENOENT", for 2 and -2; "0".
std::string error_text(std::int64_t error);
// "SIGKILL", "SIGRTMIN+3"
std::string signal_text(std::int64_t signal);
// A block device by the kernel's own dev_t, which has the minor number in 20 bits: "sda1", or "8:1"
// where this machine has none.
std::string device_text(std::uint32_t dev);
// "192.0.2.1" or "2001:db8::1", of 16 bytes as on the wire.
std::string ip_text(std::span<const std::byte> address);

}  // namespace gpufs
