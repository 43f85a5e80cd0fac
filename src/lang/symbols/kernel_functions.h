#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/pieces.h"

namespace gpufs {

// The functions in the text of /proc/kallsyms that have one of these names, as the kernel calls
// them: "drm_sched_job_timedout [gpu_sched]". A compiler that copied a function changed its name:
// where there is no "f", "f.isra.0" and "f.constprop.0" count. Throws what reading the text throws.
struct KernelFunction {
    std::string wanted, name, module;  // module is empty for the kernel itself
};
std::vector<KernelFunction> find_kernel_functions(const std::set<std::string>& names,
                                                  const TextPieces& kallsyms);

// Where a compiler copied the function: "f" of "f.isra.0" and "f.constprop.0.isra.0"; else the
// symbol itself. What is behind ".cold" or ".part" is not the function's beginning.
std::string_view without_copy_suffix(std::string_view symbol);

// The names of all of them, in the text's order, some more than once.
std::vector<std::string> kernel_function_names(const TextPieces& kallsyms);

// A line of /proc/kallsyms: "ffffffffc0a1b2c0 t drm_sched_job_timedout	[gpu_sched]". Absent when it
// is none, and for marks of the compiler in a module (".Ltmp3"), by which the kernel names nothing.
struct KallsymsLine {
    std::uint64_t address = 0;  // 0 where the kernel hides it
    char type = 0;
    std::string_view name, module;

    bool is_code() const { return type == 't' || type == 'T' || type == 'w' || type == 'W'; }
};
std::optional<KallsymsLine> parse_kallsyms_line(std::string_view line);

// A line of available_filter_functions: "vfs_read", "drm_open [drm]". Absent for the place of a
// function that the linker dropped (Linux 5.19 and later), which none can probe.
struct TraceableFunction {
    std::string_view name, module;
};
std::optional<TraceableFunction> parse_traceable_line(std::string_view line);

}  // namespace gpufs
