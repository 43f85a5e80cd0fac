#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// A perf event that can drive sampling: the `type` and `config` of perf_event_open(2).
struct SamplingEvent {
    std::string_view name;  // as perf(1) has it: "page-faults"
    std::uint32_t type;     // PERF_TYPE_SOFTWARE or PERF_TYPE_HARDWARE
    std::uint64_t config;
};

// Null when no event has this name.
const SamplingEvent* find_sampling_event(std::string_view name);
std::vector<std::string> sampling_event_names();

}  // namespace gpufs
