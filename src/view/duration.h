#pragma once

#include <cstdint>
#include <string>

namespace gpufs {

// A duration for a person: "850 ns", "12.3 us", "120.1 ms", "1.002 s", "3600.000 s".
std::string duration_text(std::uint64_t ns);
// The same with three digits at least, so that less than 1 % is cut off: "1.52 ms".
std::string precise_duration_text(std::uint64_t ns);

// Seconds as in a trace: "1234.567890".
std::string seconds_text(std::uint64_t ns);

// The local time of a CLOCK_MONOTONIC time: "04:12:07.118204".
std::string wall_clock_text(std::uint64_t monotonic_ns);
// The same as seconds since 1970: "1763692327.118204".
std::string epoch_text(std::uint64_t monotonic_ns);

// wall_clock_text() for many times: reads the clocks only in look(), and formats each second once.
class WallClock {
public:
    // Reads the clocks: their difference changes when one is set.
    void look();
    void append(std::string& out, std::uint64_t monotonic_ns);

private:
    bool has_looked_ = false;
    std::uint64_t ahead_ns_ = 0;  // real time minus monotonic time
    std::uint64_t second_ = 0;
    std::string words_;  // text of second_
};

}  // namespace gpufs
