#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/recording/file.h"

namespace gpufs {

// The recording that a command reads: `named`, else trace.dat. Throws UsageError, with the
// command's name in its hint, where neither is there.
std::string recording_path(const std::optional<std::string>& named, std::string_view command);

// A moment of a recording, as --from and --to name it. Which of the two is meant is known once the
// recording's clock is: a time where that counts nanoseconds, else a count.
struct Moment {
    std::string text;
    std::optional<std::chrono::nanoseconds> time;
    std::optional<std::uint64_t> count;
};

// Throws UsageError, with the option's name, for what is neither.
Moment parse_moment(const std::string& option, const std::string& text);

// In units of the recording's clock. Throws UsageError where it is not what the clock counts.
std::uint64_t clock_time(TraceFile& file, const char* option, const Moment& moment);

// Throws UsageError where both are there and --from is after --to.
void check_order(const std::optional<Moment>& from, const std::optional<Moment>& to);

}  // namespace gpufs
