#pragma once

#include <set>
#include <string>
#include <vector>

namespace gpufs {

// The functions of the running kernel that have one of these names, as the kernel calls them:
// "drm_sched_job_timedout [gpu_sched]". A compiler that copied a function changed its name: where
// there is no "f", "f.isra.0" and "f.constprop.0" count. Reads all of /proc/kallsyms (`path`),
// which takes tens of milliseconds. Throws SysError when it cannot be read.
struct KernelFunction {
    std::string wanted, name, module;  // module is empty for the kernel itself
};
std::vector<KernelFunction> find_kernel_functions(const std::set<std::string>& names,
                                                  const std::string& path = "/proc/kallsyms");

}  // namespace gpufs
