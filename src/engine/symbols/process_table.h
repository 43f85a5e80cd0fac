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

// Who had what mapped where, and when: from /proc/PID/maps at the first question, and from the
// side-band, if there is one, from then on. Only code is kept. Processes that are gone still
// answer; of those, the ones that went first are forgotten when there are too many (some
// thousands).
class ProcessTable {
public:
    // The latest there is.
    static constexpr std::uint64_t kLatest = std::numeric_limits<std::uint64_t>::max();

    // Borrows the files.
    explicit ProcessTable(MappedFiles& files) : files_(files) {}

    // A byte of a file, or of memory without one.
    struct Place {
        std::uint32_t pid = 0;  // the process, where a thread was asked for
        MappedFiles::Id file = MappedFiles::kAnonymous;
        std::uint64_t offset = 0;  // in the file
    };
    // What was at an address of a process at a time (CLOCK_MONOTONIC). Where the process had
    // nothing there then, what it had there before, be it in front of its last exec. `pid` may be a
    // thread's id as long as that lives.
    std::optional<Place> find(std::uint32_t pid, std::uint64_t address,
                              std::uint64_t time_ns = kLatest);

    // Reads what a process has mapped now, if that is not known.
    void remember(std::uint32_t pid);
    // Takes a record of the side-band, which come by time.
    void take(const SideBandRecord& record);

    bool is_gone(std::uint32_t pid) const;
    // Processes that ended and were forgotten.
    std::uint64_t forgotten() const noexcept { return forgotten_; }

private:
    struct Range {
        std::uint64_t start, end, offset;
        std::uint64_t since_ns;
        MappedFiles::Id file;
        bool operator==(const Range&) const = default;
    };
    // From one exec or fork to the next exec. Later ranges hide earlier ones.
    struct Life {
        std::uint64_t begin_ns = 0;
        std::vector<Range> ranges;
    };
    struct Process {
        std::deque<Life> lives;    // oldest first
        bool is_complete = false;  // all that is mapped is known
        bool is_gone = false;
        bool has_no_leader = false;          // its main thread ended before the others
        std::set<std::uint64_t> nothing_at;  // pages where the last look showed nothing
    };

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
    std::uint64_t forgotten_ = 0;
};

}  // namespace gpufs
