#pragma once

#include <cstdint>

namespace gpufs {

// CLOCK_MONOTONIC now, in nanoseconds: the clock of BPF programs and of recordings.
std::uint64_t monotonic_ns();

}  // namespace gpufs
