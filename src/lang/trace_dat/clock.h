#pragma once

#include <cstdint>
#include <optional>

#include "lang/trace_dat/header.h"

namespace gpufs {

// Converts time stamps in a recording's pages as the options of the file direct.
class TraceClock {
public:
    std::int64_t offset_ns = 0;  // ns, added last
    std::optional<trace_dat::TscToNs> tsc_to_ns;
    trace_dat::TimeShifts shifts;

    std::uint64_t time_of(std::uint64_t stamp, int cpu) const;
    bool changes_nothing() const { return offset_ns == 0 && !tsc_to_ns && shifts.cpus.empty(); }

private:
    std::uint64_t shifted(std::uint64_t stamp, int cpu) const;
};

}  // namespace gpufs
