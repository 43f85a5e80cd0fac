#pragma once

namespace gpufs {

// Gives the calling thread real-time priority (SCHED_FIFO, priority 1) during its lifetime; forked
// children do not inherit it. Does nothing if this user may not (CAP_SYS_NICE), or if the thread
// already has a real-time priority.
class RealTime {
public:
    RealTime() noexcept;
    ~RealTime();
    RealTime(const RealTime&) = delete;
    RealTime& operator=(const RealTime&) = delete;

private:
    bool is_set_ = false;
};

}  // namespace gpufs
