#pragma once

#include <cstdint>
#include <optional>

#include "lang/trace_dat/format.h"

namespace gpufs {

// Turns the time stamps in a recording's pages into what the recorder wanted them to be.
class TraceClock {
public:
    std::int64_t offset_ns = 0;  // is added at the end
    std::optional<trace_dat::TscToNs> tsc_to_ns;
    trace_dat::TimeShifts shifts;

    std::uint64_t time_of(std::uint64_t stamp, int cpu) const;
    bool changes_nothing() const { return offset_ns == 0 && !tsc_to_ns && shifts.cpus.empty(); }

private:
    std::uint64_t shifted(std::uint64_t stamp, int cpu) const;
};

}  // namespace gpufs
