#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace gpufs {

// perf_event_open(2).

// A performance monitoring unit whose type number is assigned at run time: "kprobe", "uprobe".
struct Pmu {
    std::uint32_t type = 0;

    // Absent when this kernel has no such PMU. Throws SysError.
    static std::optional<Pmu> find(std::string_view name);
};

// The lowest bit of perf_event_attr::config that holds the PMU's parameter ("retprobe" has always
// been bit 0), from the PMU's format directory. Throws SysError, and Error if the parameter is not
// in `config`.
unsigned pmu_config_bit(std::string_view pmu, std::string_view parameter);

// A zeroed attribute block with its size set.
perf_event_attr perf_attr(std::uint32_t type, std::uint64_t config);

// Opens an event for one process on any CPU (pid, -1) or for all processes on one CPU (-1, cpu). It
// is closed on exec. `what` completes "cannot ..." in errors: UnsupportedError, naming what is
// missing, if this user lacks permission or this machine has no such event; SysError otherwise.
Fd open_perf_event(const perf_event_attr& attr, int pid, int cpu, std::string_view what);

// ioctl(2) with PERF_EVENT_IOC_ENABLE and similar requests. Throws SysError.
void perf_ioctl(const Fd& event, unsigned long request, unsigned long argument,
                std::string_view what);

}  // namespace gpufs
