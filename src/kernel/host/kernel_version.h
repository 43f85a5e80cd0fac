#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace gpufs {

struct KernelVersion {
    unsigned major = 0, minor = 0, patch = 0;
    auto operator<=>(const KernelVersion&) const = default;
    // As LINUX_VERSION_CODE counts: the patch level ends at 255.
    std::uint32_t code() const { return major << 16 | minor << 8 | (patch > 255 ? 255 : patch); }
};

// The numbers that "6.1.0-56-amd64" begins with; 0 for those that it does not have.
KernelVersion parse_kernel_release(const std::string& release);

// The version of the source this kernel was built from, out of the vDSO's ELF note: a
// distribution's uname(2) may tell another (Debian's 4.19.0-27 is 4.19.316). Where there is no
// vDSO, from uname(2).
KernelVersion running_kernel();

// What the kernel calls itself, uname(2)'s release: "6.17.0-rc3", "6.1.0-56-amd64".
std::string running_release();

}  // namespace gpufs
