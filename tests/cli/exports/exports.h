#pragma once

#include <cstdint>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "support/json.h"
#include "support/timeline.h"

namespace gpufs::test {

// All recordings of tests/data/trace_dat, by name; and the file of one.
std::vector<std::string> all_recordings();
std::string recording_path(const std::string& name);

// What `gpufs export` writes of the recording to stdout, in the format of the option.
std::string exported(const std::string& path, const std::string& format,
                     std::vector<std::string> more = {});
// The records that `gpufs report` tells of.
std::vector<Json> reported(const std::string& path);

// "12.978974000" as nanoseconds, "12978974000" as it is.
std::uint64_t ns_of(std::string text);

// The times of a job's steps in microseconds, of those that were recorded.
struct ShownJob {
    std::string device, ring, comm, how;
    std::uint64_t queued = 0, ran = 0, done = 0;
    friend auto operator<=>(const ShownJob&, const ShownJob&) = default;
};
std::ostream& operator<<(std::ostream& out, const ShownJob& job);
using ShownJobs = std::multiset<ShownJob>;

// As `gpufs watch drm` tells their steps; as arrows lead from slice to slice.
ShownJobs jobs_of_monitor(const std::string& path);
ShownJobs jobs_of_timeline(const ShownTimeline& shown);

}  // namespace gpufs::test
