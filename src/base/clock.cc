#include "base/clock.h"

#include <ctime>
#include <limits>

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
    // Who is interrupted between the two clocks, by other tasks for milliseconds, reads them again.
    constexpr int kTries = 16;
    constexpr std::uint64_t kClose = 1'000;
    std::uint64_t closest = std::numeric_limits<std::uint64_t>::max(), ahead = 0;
    for (int i = 0; i < kTries && closest > kClose; ++i) {
        const std::uint64_t before = monotonic_ns();
        const std::uint64_t real = now(CLOCK_REALTIME);
        const std::uint64_t took = monotonic_ns() - before;
        if (took >= closest) continue;
        closest = took;
        ahead = real - before - took / 2;
    }
    return ahead;
}

std::uint64_t tai_ahead_of_real_ns() {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    const std::uint64_t real = now(CLOCK_REALTIME), tai = now(CLOCK_TAI);
    return (tai - real + kSecond / 2) / kSecond * kSecond;
}

}  // namespace gpufs
