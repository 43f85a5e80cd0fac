#include "lang/trace_dat/clock.h"

#include <algorithm>
#include <cmath>

namespace gpufs {
namespace {

__extension__ using Wide = unsigned __int128;

// value * factor / 2^shift, truncated to 64 bits.
std::uint64_t scaled(std::uint64_t value, std::uint64_t factor, unsigned shift) {
    return static_cast<std::uint64_t>(Wide{value} * factor >> std::min(shift, 127u));
}

}  // namespace

std::uint64_t TraceClock::time_of(std::uint64_t stamp, int cpu) const {
    std::uint64_t time = shifted(stamp, cpu);
    if (tsc_to_ns && tsc_to_ns->multiplier != 0) {
        time = scaled(time, tsc_to_ns->multiplier, tsc_to_ns->shift);
    }
    return time + static_cast<std::uint64_t>(offset_ns);
}

// Uses the two samples around the time, or the two nearest before the first and after the last.
std::uint64_t TraceClock::shifted(std::uint64_t stamp, int cpu) const {
    if (cpu < 0 || static_cast<std::size_t>(cpu) >= shifts.cpus.size()) return stamp;
    const auto& samples = shifts.cpus[static_cast<std::size_t>(cpu)];
    if (samples.empty()) return stamp;
    if (samples.size() == 1) return stamp + static_cast<std::uint64_t>(samples[0].offset);
    const auto behind = std::ranges::upper_bound(samples, stamp, {}, &trace_dat::TimeShift::time);
    const auto at = std::clamp<std::ptrdiff_t>(behind - samples.begin(), 1,
                                               static_cast<std::ptrdiff_t>(samples.size()) - 1);
    const trace_dat::TimeShift& a = samples[static_cast<std::size_t>(at - 1)];
    const trace_dat::TimeShift& b = samples[static_cast<std::size_t>(at)];
    auto offset = static_cast<std::uint64_t>(a.offset);
    if (shifts.interpolates && b.time > a.time) {
        const auto passed = static_cast<long double>(stamp) - static_cast<long double>(a.time);
        const auto change = static_cast<long double>(b.offset) - static_cast<long double>(a.offset);
        const auto by = passed * change / static_cast<long double>(b.time - a.time);
        // Ignore larger values: no time is that large.
        if (std::abs(by) < 0x1p62L) offset += static_cast<std::uint64_t>(std::llround(by));
    }
    return scaled(stamp, a.scaling, a.fraction) + offset;
}

}  // namespace gpufs
