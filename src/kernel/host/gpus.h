#pragma once

#include <string>
#include <vector>

namespace gpufs {

// A GPU as the kernel knows it.
struct Gpu {
    std::string name;    // "card0"; of NVIDIA without its display driver "nvidia0"
    std::string driver;  // "amdgpu"; empty where none is bound
    std::string device;  // the PCI vendor and device, "1002:73bf"; empty where it is no PCI device
    std::string slot;    // "0000:03:00.0"; where it is no PCI device its name on its bus
    std::string model;   // where the driver tells: "NVIDIA H200"
};

// The GPUs of this machine: /sys/class/drm and /proc/driver/nvidia/gpus, each device once, by name.
// A directory that is not there has none. Paths are given for tests.
std::vector<Gpu> find_gpus(const std::string& sys = "/sys",
                           const std::string& nvidia = "/proc/driver/nvidia");

}  // namespace gpufs
