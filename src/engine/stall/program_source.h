#pragma once

#include <map>
#include <memory>
#include <optional>

#include "engine/monitor/monitor.h"
#include "engine/monitor/reader.h"
#include "engine/places/kernel_facts.h"
#include "engine/stall/cpu_occupancy.h"
#include "engine/stall/stall_source.h"
#include "engine/stall/task_records.h"
#include "engine/stall/user_stacks.h"

namespace gpufs {

// The program bpf_asm/lib/stall.bpf: it sees every switch of the tasks, in the kernel, and sends
// the stalls. What is under way is looked up in its map, when it may be over the threshold.
class ProgramSource : public StallSource {
public:
    // Loads and attaches the program, which watches no task yet. The tracker is borrowed. Throws
    // UnsupportedError, or RefusedProgram, where it cannot run.
    ProgramSource(const Tracefs& top, StallTracker& tracker, const StallTracker::Choice& choice);

    void expect(const std::string& program) override { user_stacks_.expect(program); }
    void follow(const std::vector<int>& tids) override;
    void start() override {}
    bool wait(int stop_fd, std::chrono::milliseconds limit) override;
    void read() override;
    void stop() override;
    std::vector<int> take_execed() override { return records_.take_execed(); }
    bool add_runs(Stall& wait, bool is_last) override;
    void forget_runs_before(std::uint64_t ns) override { runs_.forget_before(ns); }
    void add_others(StallTracker::Others& others) const override;
    LossLedger losses() const override;
    std::vector<std::string> damage() const override { return {}; }
    std::uint64_t buffer_bytes() const override;
    std::string described() const override;

private:
    void take(const RecordLayout& layout, std::span<const std::byte> record);
    void look();
    std::vector<Frame> user_stack(const TaskRecord& task);
    std::uint64_t count_refused() const;
    void read_runs(int cpu);

    StallTracker& tracker_;
    StallTracker::Choice choice_;
    bool logs_runs_;
    KernelFacts machine_;
    StallUserStacks user_stacks_;
    std::unique_ptr<Monitor> monitor_;
    std::optional<MonitorReader> reader_;
    int stop_fd_ = -1;
    TaskRecords records_;
    std::uint64_t next_look_ns_ = 0;
    std::uint64_t last_ns_ = 0;  // of what was read
    std::uint64_t refused_ = 0;  // what the program had no room for, as far as the tracker knows
    CpuOccupancy runs_;
    std::map<int, std::uint64_t> runs_read_;  // of each CPU
};

}  // namespace gpufs
