#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

namespace gpufs {

struct KernelVersion {
    unsigned major = 0, minor = 0, patch = 0;
    auto operator<=>(const KernelVersion&) const = default;
    // As LINUX_VERSION_CODE counts: the patch level ends at 255.
    std::uint32_t code() const { return major << 16 | minor << 8 | (patch > 255 ? 255 : patch); }
};

// The numbers that "6.1.0-56-amd64" begins with; 0 for those that it does not have.
KernelVersion parse_kernel_release(std::string_view release);

}  // namespace gpufs
