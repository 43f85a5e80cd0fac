#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "engine/monitor/monitor.h"
#include "kernel/perf/side_band.h"

namespace gpufs {

// Libraries that processes map while a monitor runs, and that were nowhere to be found before: in
// an environment of Python's, in a container. The monitor is attached to their functions, too.
class ArrivingLibraries {
public:
    // Borrows the monitor.
    explicit ArrivingLibraries(Monitor& monitor);

    // Whether the monitor's probes are at functions of libraries that are named by a pattern.
    bool are_awaited() const { return !patterns_.empty(); }
    // The processes that have a library mapped now which the monitor's probes are in.
    std::set<int> processes() const;
    // For Symbols::watch().
    void take(const SideBandRecord& record);
    // A file that a process will map soon.
    void expect(const std::string& path);
    // Looks at all processes: one may have mapped a library after the monitor looked for it, and
    // before take() was told.
    void look_around();
    // Attaches the monitor. A line for each file where that is not possible.
    std::vector<std::string> attach();
    // The patterns of PreparedProgram::awaited() that no file has had until now.
    const std::vector<std::string>& missing() const { return missing_; }

private:
    // Device, inode, generation.
    using FileId = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
    struct Arrived {
        LibraryFiles::Mapped file;
        // What a record says; /proc/PID/maps, which look_around() reads, has no generation.
        std::optional<FileId> id;
    };
    bool is_awaited(std::string_view path) const;

    Monitor& monitor_;
    const std::vector<std::string> patterns_;
    const bool awaits_programs_;
    std::vector<std::string> missing_;
    std::set<FileId> known_;
    std::vector<Arrived> arrived_;
};

}  // namespace gpufs
