#pragma once

#include <cstdint>
#include <string>

namespace gpufs {

// "850 ns", "12.3 us", "120.1 ms", "1.002 s", "3600.000 s": a time for a person.
std::string duration_text(std::uint64_t ns);

// "1234.567890": seconds, as a trace has them.
std::string seconds_text(std::uint64_t ns);

// "04:12:07.118204": local time of a moment of CLOCK_MONOTONIC.
std::string wall_clock_text(std::uint64_t monotonic_ns);
// The same moment as seconds since 1970, with microseconds: "1763692327.118204".
std::string epoch_text(std::uint64_t monotonic_ns);

// The same as wall_clock_text() for many moments: the clocks are compared when asked to, and a
// second is put into words once.
class WallClock {
public:
    // The difference of the clocks changes when somebody sets one.
    void look();
    void append(std::string& out, std::uint64_t monotonic_ns);

private:
    bool has_looked_ = false;
    std::uint64_t ahead_ns_ = 0;  // real time minus monotonic time
    std::uint64_t second_ = 0;
    std::string words_;  // of second_
};

}  // namespace gpufs
