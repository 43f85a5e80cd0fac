#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// What is mounted.
struct Mount {
    std::string at;    // "/sys/kernel/tracing"
    std::string type;  // of the file system: "tracefs"
};

// The mounts in the text of /proc/self/mounts, in its order: what covers another comes later.
std::vector<Mount> parse_mounts(std::string_view text);

// Those that this process sees. Empty without /proc.
std::vector<Mount> mounts();

}  // namespace gpufs
