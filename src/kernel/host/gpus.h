#pragma once

#include <string>
#include <vector>

namespace gpufs {

// A GPU, or another accelerator, known to the kernel.
struct Gpu {
    std::string name;    // its first device file, "card0"; `slot` if it has none
    std::string driver;  // "amdgpu"; empty if none is bound
    std::string device;  // PCI vendor and device id, "1002:73bf"; empty if not a PCI device
    std::string slot;    // "0000:03:00.0"; the name on its bus if not a PCI device
    std::string model;   // "NVIDIA H200"; empty if the driver does not report it
    // All its device files below /dev: "card0", "renderD128", "accel0", "nvidia0".
    std::vector<std::string> nodes;

    // Whether DRM knows it: NVIDIA's own files are not DRM's.
    bool has_drm_node() const;
};

// The GPUs of this machine, each device once: those of the kernel's DRM and accel, of NVIDIA's
// driver, and PCI devices that are displays or accelerators by their class, whether they have a
// driver or not. Sorted by name, those without device files last. Missing directories are treated
// as empty. The parameters are for tests.
std::vector<Gpu> find_gpus(const std::string& sys = "/sys",
                           const std::string& nvidia = "/proc/driver/nvidia");

}  // namespace gpufs
