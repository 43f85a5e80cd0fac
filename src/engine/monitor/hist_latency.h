#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/loss.h"
#include "engine/results/running_program.h"
#include "engine/results/table_map.h"
#include "engine/session/changes.h"
#include "engine/session/run_mark.h"
#include "engine/session/scratch_instance.h"
#include "lang/adhoc/hist_times.h"
#include "lang/adhoc/latency_hists.h"

namespace gpufs {

// Throws UnsupportedError where the kernel was built without hist triggers or synthetic events.
void require_latency_hists();

// Latencies that the kernel's hist triggers measure, in an instance of their own; nothing of BPF is
// used. The maps of the program are filled from what the kernel's tables say. What a killed process
// leaves, remove_stale() removes.
class HistLatency : public RunningProgram {
public:
    // Sets everything; nothing is counted before begin(). `command`: the process that is held
    // before its exec, where only it and what it starts is looked at. While it is held it has the
    // name kHeldName. Throws SysError with the kernel's words.
    HistLatency(const Tracefs& top, LatencyHists hists, std::optional<int> command);
    ~HistLatency() override;
    HistLatency(const HistLatency&) = delete;
    HistLatency& operator=(const HistLatency&) = delete;

    static constexpr const char* kHeldName = "gpufs:held";
    // What is written, as shell commands.
    std::vector<std::string> shell_lines() const;

    void begin();
    // Nothing is counted any more: what the maps say then is all of one moment.
    void end();
    // Reads the kernel's tables. The map "latency" has what came since the last turn().
    void refresh();

    const Program& program() const override { return hists_.program; }
    ProgramMap* map(std::string_view name) const override;
    void turn() override;
    ProgramMap* settled_map(std::string_view name) const override { return map(name); }

    // After end().
    LossLedger losses() const;
    // After end(): the records of the instance's snapshot from the begin of the longest pair to its
    // end, in the kernel's own text; none where the kernel takes no snapshots.
    std::vector<std::string> trace_of_longest() const;

private:
    using Role = HistTable::Role;
    // Of all kernel buckets with values of one bucket.
    struct Times {
        std::uint64_t count = 0, total = 0, least = ~std::uint64_t{0}, most = 0;
    };
    using Key = std::vector<std::byte>;
    struct Totals {
        std::uint64_t hits = 0, dropped = 0;
        std::uint64_t both() const { return hits + dropped; }
    };

    void plan();
    void stop_counting() const;
    void read_tables(const std::string& event);
    void take(const HistTable& table, const HistListing& listing);
    void fill_latency();
    void fill_tallies();
    Totals totals(Role role) const;
    void set_number(const char* map, std::uint64_t number);

    LatencyHists hists_;
    ScratchInstance scratch_;
    RunMark mark_;
    HistSetting setting_;
    std::optional<int> command_;
    std::vector<HistTable> tables_;
    Changes changes_, begin_;
    std::map<std::string, std::unique_ptr<TableMap>, std::less<>> maps_;
    // What the kernel has, and of it what had come at the last turn.
    std::map<std::pair<Key, std::uint32_t>, Times> times_, turned_;
    std::map<Key, std::uint64_t> least_, most_;
    std::map<Role, Totals> totals_;
    std::optional<LongestPair> longest_;
};

}  // namespace gpufs
