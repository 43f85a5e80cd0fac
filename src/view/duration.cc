#include "view/duration.h"

#include <ctime>
#include <utility>

#include "base/cat.h"
#include "base/clock.h"

namespace gpufs {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// n / unit with this many decimals, truncated.
std::string decimal(std::uint64_t n, std::uint64_t unit, unsigned decimals) {
    std::string fraction;
    std::uint64_t rest = n % unit;
    for (unsigned i = 0; i < decimals; ++i) {
        unit /= 10;
        fraction += static_cast<char>('0' + rest / unit);
        rest %= unit;
    }
    return fraction;
}

std::uint64_t real_time(std::uint64_t monotonic_ns) {
    return monotonic_ns + real_time_ahead_ns();
}

}  // namespace

std::string duration_text(std::uint64_t ns) {
    if (ns < 1'000) return cat(ns, " ns");
    if (ns < 1'000'000) return cat(ns / 1'000, ".", decimal(ns, 1'000, 1), " us");
    if (ns < kSecond) return cat(ns / 1'000'000, ".", decimal(ns, 1'000'000, 1), " ms");
    return cat(ns / kSecond, ".", decimal(ns, kSecond, 3), " s");
}

std::string precise_duration_text(std::uint64_t ns) {
    for (const auto& [unit, name] :
         {std::pair(std::uint64_t{1'000}, " us"), std::pair(std::uint64_t{1'000'000}, " ms")})
        if (ns >= unit && ns < 10 * unit) return cat(ns / unit, ".", decimal(ns, unit, 2), name);
    return duration_text(ns);
}

std::string seconds_text(std::uint64_t ns) {
    return cat(ns / kSecond, ".", decimal(ns, kSecond, 6));
}

std::string wall_clock_text(std::uint64_t monotonic_ns) {
    std::string text;
    WallClock().append(text, monotonic_ns);
    return text;
}

std::string epoch_text(std::uint64_t monotonic_ns) {
    return seconds_text(real_time(monotonic_ns));
}

void WallClock::look() {
    has_looked_ = true;
    ahead_ns_ = real_time_ahead_ns();
}

void WallClock::append(std::string& out, std::uint64_t monotonic_ns) {
    if (!has_looked_) look();
    const std::uint64_t real = monotonic_ns + ahead_ns_;
    if (words_.empty() || real / kSecond != second_) {
        second_ = real / kSecond;
        const auto seconds = static_cast<time_t>(second_);
        tm local{};
        ::localtime_r(&seconds, &local);
        char text[16];
        std::strftime(text, sizeof text, "%H:%M:%S.", &local);
        words_ = text;
    }
    out += words_;
    std::uint64_t rest = real % kSecond / 1'000;
    char digits[6];
    for (std::size_t i = sizeof digits; i > 0; --i, rest /= 10)
        digits[i - 1] = static_cast<char>('0' + rest % 10);
    out.append(digits, sizeof digits);
}

}  // namespace gpufs
