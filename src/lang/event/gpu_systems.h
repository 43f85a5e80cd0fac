#pragma once

#include <algorithm>
#include <string_view>

namespace gpufs {

// The systems (groups) under which GPU drivers, their shared scheduler, fences and display code
// register events: TRACE_SYSTEM in the kernel's drivers/gpu, drivers/accel, drivers/dma-buf, and of
// NVIDIA's own module.
inline constexpr std::string_view kGpuSystems[] = {
    "gpu_scheduler",  "drm",    "dma_fence", "amdgpu",     "amdgpu_dm",  "i915", "xe",
    "nouveau",        "nvidia", "radeon",    "virtio_gpu", "v3d",        "vc4",  "drm_msm_gpu",
    "drm_msm_atomic", "host1x", "gpu_mem",   "amdxdna",    "habanalabs", "vpu"};

// Those of them under which several drivers have their events.
inline constexpr std::string_view kSharedGpuSystems[] = {"gpu_scheduler", "drm", "dma_fence",
                                                         "gpu_mem"};

// True if events under this system come from the driver of that name alone.
inline bool is_gpu_driver(std::string_view system) {
    return std::ranges::count(kGpuSystems, system) > 0 &&
           std::ranges::count(kSharedGpuSystems, system) == 0;
}

// True if `full_name`, "system:event", belongs to one of these systems.
inline bool is_gpu_event(std::string_view full_name) {
    return std::ranges::count(kGpuSystems, full_name.substr(0, full_name.find(':'))) > 0 ||
           full_name == "power:gpu_frequency";
}

// True if a probe's target, "libcuda.so*:cuLaunchKernel", is in a library that gives GPUs work.
inline bool is_gpu_library(std::string_view target) {
    for (const std::string_view library :
         {"libcuda.so", "libamdhip64.so", "libze_loader.so", "libvulkan.so"})
        if (target.starts_with(library)) return true;
    return false;
}

// True if a kernel module of this name is a GPU's driver, or what several of them share.
inline bool is_gpu_module(std::string_view module) {
    for (const std::string_view begin :
         {"amdgpu", "amdkfd", "amdxcp", "drm", "etnaviv", "gpu_sched", "i915", "intel_vpu", "lima",
          "msm", "nouveau", "nvidia", "panfrost", "panthor", "radeon", "ttm", "v3d", "vc4",
          "virtio_gpu"})
        if (module.starts_with(begin)) return true;
    return module == "xe";
}

// The hint where such an event is missing.
inline constexpr const char* kLoadDriver =
    "load the driver of the GPU; 'gpufs list --gpu' has its events";

}  // namespace gpufs
