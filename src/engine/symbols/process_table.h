#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "engine/symbols/mapped_files.h"
#include "kernel/perf/side_band.h"

namespace gpufs {

// The history of executable mappings of processes: from /proc/PID/maps at the first query, and then
// from the side-band, if there is one. Processes that have exited remain known; if there are too
// many (some thousands), those that exited first are forgotten.
class ProcessTable {
public:
    // Requests the latest mapping.
    static constexpr std::uint64_t kLatest = std::numeric_limits<std::uint64_t>::max();

    // Keeps a reference to `files`.
    explicit ProcessTable(MappedFiles& files) : files_(files) {}

    // An offset in a file, or in memory without one.
    struct Place {
        std::uint32_t pid = 0;  // the process, even if the query was for a thread
        MappedFiles::Id file = MappedFiles::kAnonymous;
        std::uint64_t offset = 0;  // in the file
    };
    // The mapping at an address of a process at a time (CLOCK_MONOTONIC). If there was none then,
    // an earlier one, even from before the last exec. `pid` may be a thread id as long as the
    // thread lives.
    std::optional<Place> find(std::uint32_t pid, std::uint64_t address,
                              std::uint64_t time_ns = kLatest);

    // Reads the process's current mappings, if they are not known.
    void remember(std::uint32_t pid);
    // Processes a side-band record. Records must come in order of time.
    void take(const SideBandRecord& record);

    // Executable memory of a process as it is mapped now.
    struct Mapped {
        std::uint64_t start = 0, end = 0;
        std::uint64_t offset = 0;  // in the file
        MappedFiles::Id file = MappedFiles::kAnonymous;
    };
    // In order of their addresses, without overlaps, as far as it is known.
    std::vector<Mapped> mapped_now(std::uint32_t pid) const;
    // Reads the process's current mappings again.
    void look_again(std::uint32_t pid);

    bool is_gone(std::uint32_t pid) const;
    // The user of a process, also of one that is gone; 0 if it is unknown.
    std::uint32_t owner(std::uint32_t pid);

private:
    struct Range {
        std::uint64_t start, end, offset;
        std::uint64_t since_ns;
        MappedFiles::Id file;
        bool operator==(const Range&) const = default;
    };
    // The time from an exec or fork to the next exec. Later ranges hide earlier ones.
    struct Life {
        std::uint64_t begin_ns = 0;
        std::vector<Range> ranges;
    };
    struct Process {
        std::deque<Life> lives;    // oldest first
        bool is_complete = false;  // all mappings are known
        bool is_gone = false;
        std::optional<std::uint32_t> owner;  // the user, when it was last looked at
        bool has_no_leader = false;          // its main thread exited before the others
        std::set<std::uint64_t> nothing_at;  // pages without a mapping at the last read
    };

    static void look_at_owner(std::uint32_t task, Process& process);
    void read_maps(std::uint32_t pid, Process& process);
    void fork(const SideBandRecord& record);
    void exec(const SideBandRecord& record);
    void exit(const SideBandRecord& record);
    void revive(std::uint32_t pid, Process& process);
    Process& process_of(std::uint32_t pid);
    static void add(Process& process, const Range& range);
    static const Range* find_range(const Process& process, std::uint64_t address,
                                   std::uint64_t time_ns);

    MappedFiles& files_;
    std::map<std::uint32_t, Process> processes_;
    std::deque<std::uint32_t> gone_;  // oldest first
    std::size_t gone_ranges_ = 0;
};

}  // namespace gpufs
