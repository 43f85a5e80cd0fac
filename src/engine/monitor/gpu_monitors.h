#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/places/kernel_facts.h"
#include "engine/recording/file.h"
#include "lang/program/program.h"

namespace gpufs {

// A monitor of what GPUs do, and what it lacks to run.
struct GpuMonitor {
    Program program;
    std::string why_not, hint;  // empty: nothing
    bool is_refused = false;    // what it looks at is there, and try_gpu_monitors() failed

    bool fits() const { return why_not.empty(); }
    // The driver that it is about, by the name of the monitor or of its events: "amdgpu", "vpu".
    // Empty: about several drivers.
    std::string_view driver() const;
    // Whether it looks at the calls of a library, such as CUDA's.
    bool needs_library() const;
    // Whether it looks at what DRM has of all drivers: jobs of its scheduler, fences, frames.
    bool is_about_drm() const { return driver().empty() && !needs_library(); }
};

// All monitors that look at an event of a GPU driver or at a library for GPUs, with the first
// event, library or feature that each lacks in this kernel or recording. Loads nothing. Monitors
// with mistakes are left out.
std::vector<GpuMonitor> find_gpu_monitors(KernelFacts& kernel);

// Loads and attaches each that fits, for a moment: what this user or this kernel refuses then
// becomes what the monitor lacks.
void try_gpu_monitors(std::vector<GpuMonitor>& monitors, KernelFacts& kernel);
// The same over a recording: an event without the fields that a monitor reads becomes what that
// lacks.
void try_gpu_monitors(std::vector<GpuMonitor>& monitors, TraceFile& recording);

}  // namespace gpufs
