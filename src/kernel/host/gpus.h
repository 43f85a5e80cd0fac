#pragma once

#include <string>
#include <vector>

namespace gpufs {

// A GPU known to the kernel.
struct Gpu {
    std::string name;    // "card0"; "nvidia0" for NVIDIA without its display driver
    std::string driver;  // "amdgpu"; empty if none is bound
    std::string device;  // PCI vendor and device id, "1002:73bf"; empty if not a PCI device
    std::string slot;    // "0000:03:00.0"; the name on its bus if not a PCI device
    std::string model;   // "NVIDIA H200"; empty if the driver does not report it
};

// The GPUs of this machine from /sys/class/drm and /proc/driver/nvidia/gpus: each device once,
// sorted by name. Missing directories are treated as empty. The parameters are for tests.
std::vector<Gpu> find_gpus(const std::string& sys = "/sys",
                           const std::string& nvidia = "/proc/driver/nvidia");

}  // namespace gpufs
