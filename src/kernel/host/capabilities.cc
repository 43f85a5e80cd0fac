#include "kernel/host/capabilities.h"

#include <charconv>

#include "base/file.h"

namespace gpufs {

bool has_capability(Capability capability) {
    const std::string status = read_file_if_readable("/proc/self/status").value_or("");
    constexpr std::string_view kKey = "CapEff:\t";
    const auto at = status.find(kKey);
    std::uint64_t bits = 0;
    if (at != status.npos)
        std::from_chars(status.data() + at + kKey.size(), status.data() + status.size(), bits, 16);
    return bits >> static_cast<unsigned>(capability) & 1;
}

}  // namespace gpufs
