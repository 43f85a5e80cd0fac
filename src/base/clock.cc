#include "base/clock.h"

#include <ctime>

namespace gpufs {
namespace {

std::uint64_t now(clockid_t clock) {
    timespec t{};
    ::clock_gettime(clock, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(t.tv_nsec);
}

}  // namespace

std::uint64_t monotonic_ns() {
    return now(CLOCK_MONOTONIC);
}

std::uint64_t real_time_ahead_ns() {
    return now(CLOCK_REALTIME) - now(CLOCK_MONOTONIC);
}

}  // namespace gpufs
