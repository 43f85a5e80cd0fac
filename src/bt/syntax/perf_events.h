#pragma once

#include <span>
#include <string_view>

namespace gpufs::bt {

// An event of perf_event_open(2), as bpftrace calls it.
struct PerfEventName {
    std::string_view name, other;  // the other may be empty
};
std::span<const PerfEventName> software_events();
std::span<const PerfEventName> hardware_events();

}  // namespace gpufs::bt
