#pragma once

#include <cstdint>

namespace gpufs {

// CLOCK_MONOTONIC now, in nanoseconds: the clock of BPF programs and of recordings.
std::uint64_t monotonic_ns();

// What to add to a monotonic time for nanoseconds since 1970. It changes when the clock is set, so
// take it anew for each time that is shown.
std::uint64_t real_time_ahead_ns();

// What CLOCK_TAI is ahead of the real time: whole seconds, 0 where nobody told the kernel.
std::uint64_t tai_ahead_of_real_ns();

}  // namespace gpufs
