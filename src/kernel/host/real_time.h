#pragma once

namespace gpufs {

// While it lives, the thread that made it runs before all tasks without real-time priority, and
// after all with more (SCHED_FIFO, priority 1). What it forks does not. Nothing happens where this
// user may not (CAP_SYS_NICE), and where the thread has such a priority already.
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
