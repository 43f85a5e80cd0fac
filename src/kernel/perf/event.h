#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace gpufs {

// perf_event_open(2).

// An event of a performance monitoring unit that the kernel numbers at run time: "kprobe",
// "uprobe".
struct Pmu {
    std::uint32_t type = 0;

    // Absent when this kernel has none of that name. Throws SysError.
    static std::optional<Pmu> find(std::string_view name);
};

// The lowest bit of perf_event_attr::config that a PMU's parameter takes ("retprobe", bit 0 since
// it was added), from its format directory. Throws SysError, and Error for a format that is not in
// `config`.
unsigned pmu_config_bit(std::string_view pmu, std::string_view parameter);

// An attribute block of zeros with its size set.
perf_event_attr perf_attr(std::uint32_t type, std::uint64_t config);

// Opens an event for a process on whatever CPU (pid, -1) or for everybody on one (-1, cpu). Closed
// on exec. `what` completes "cannot ..." in errors: UnsupportedError, saying what is missing, where
// this user may not or this machine has no such event; SysError otherwise, with the errno.
Fd open_perf_event(const perf_event_attr& attr, int pid, int cpu, std::string_view what);

// PERF_EVENT_IOC_ENABLE and its kind. Throws SysError.
void perf_ioctl(const Fd& event, unsigned long request, unsigned long argument,
                std::string_view what);

}  // namespace gpufs
