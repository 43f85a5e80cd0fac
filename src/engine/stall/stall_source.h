#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/loss.h"
#include "engine/stall/stall.h"
#include "engine/stall/tracker.h"

namespace gpufs {

// Where a StallTracker's events come from: a BPF program that sends the stalls only
// (ProgramSource), or every event of the tasks, from tracefs (TracefsSource). Both give the tracker
// the same stalls.
class StallSource {
public:
    virtual ~StallSource() = default;

    // A program that a task will become: its user stacks will be taken from its begin on.
    virtual void expect(const std::string& /*program*/) {}
    // From now on what these tasks do is seen, and those are followed that they start. Tasks that
    // are followed already may be named again. Throws SysError.
    virtual void follow(const std::vector<int>& tids) = 0;
    // Begins, with the tasks that are followed by then.
    virtual void start() = 0;
    // Sleeps until read() has something to do. False once `stop_fd` is readable; -1: none.
    virtual bool wait(int stop_fd, std::chrono::milliseconds limit) = 0;
    // Tells the tracker all that is known by now.
    virtual void read() = 0;
    // Ends, and tells the tracker the rest.
    virtual void stop() = 0;

    // Tasks that took over another's id by an exec since the last call: they must be followed anew.
    virtual std::vector<int> take_execed() = 0;
    // Adds to a wait for a CPU who ran there meanwhile. False where that is not known yet; not so
    // `is_last`.
    virtual bool add_runs(Stall& wait, bool is_last) = 0;
    // Nobody will ask who ran before.
    virtual void forget_runs_before(std::uint64_t ns) = 0;
    // Adds the stretches over the threshold, in states not asked for, that the tracker was not
    // told.
    virtual void add_others(StallTracker::Others& others) const = 0;

    // What is missing so far.
    virtual LossLedger losses() const = 0;
    virtual std::vector<std::string> damage() const = 0;
    // Bytes that the kernel keeps for it, all CPUs.
    virtual std::uint64_t buffer_bytes() const = 0;
    // How it works, in a line: "a BPF program ...".
    virtual std::string described() const = 0;
};

}  // namespace gpufs
