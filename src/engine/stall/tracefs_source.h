#pragma once

#include <optional>

#include "engine/session/scratch_instance.h"
#include "engine/stall/cpu_occupancy.h"
#include "engine/stall/stall_source.h"
#include "engine/stall/tracefs_events.h"
#include "engine/trace/raw_buffer.h"

namespace gpufs {

// Reads every event of the tasks in an instance of its own, and, where waits for a CPU are asked
// for, every task's switches in another one. What comes faster than it is read is lost, and
// counted; from the first loss on system calls are not recorded, which are most of the events.
class TracefsSource : public StallSource {
public:
    // The tracker and the catalogue are borrowed. Throws UnsupportedError where an event is
    // missing.
    TracefsSource(const Tracefs& top, Events& events, StallTracker& tracker, const StateSet& states,
                  Stacks stacks);

    void follow(const std::vector<int>& tids) override;
    void start() override;
    bool wait(int stop_fd, std::chrono::milliseconds limit) override;
    void read() override;
    void stop() override;
    std::vector<int> take_execed() override { return reader_.take_execed(); }
    bool add_runs(Stall& wait, bool is_last) override;
    void forget_runs_before(std::uint64_t ns) override { runs_.forget_before(ns); }
    void add_others(StallTracker::Others&) const override {}
    LossLedger losses() const override;
    std::vector<std::string> damage() const override;
    std::uint64_t buffer_bytes() const override { return buffer_bytes_; }
    std::string described() const override;

private:
    // How many records there were.
    std::size_t read_buffers();

    StateSet states_;
    Stacks stacks_;
    ScratchInstance instance_;
    std::optional<ScratchInstance> runs_instance_;
    StallReader reader_;
    CpuOccupancy runs_;
    std::optional<RunReader> runs_reader_;
    std::optional<RawBuffer> buffer_, runs_buffer_;
    std::uint64_t buffer_bytes_ = 0;
    bool is_busy_ = false;     // the last read() found many records
    bool is_thinned_ = false;  // without system calls
};

}  // namespace gpufs
