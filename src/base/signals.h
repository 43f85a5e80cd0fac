#pragma once

#include <csignal>

#include "base/fd.h"

namespace gpufs {

// Holds back SIGINT, SIGTERM and SIGHUP while it lives. One that came meanwhile takes its usual
// effect at the end of the scope, so work that must be whole is whole, and the shell still sees the
// signal.
class HoldSignals {
public:
    HoldSignals();
    ~HoldSignals();
    HoldSignals(const HoldSignals&) = delete;
    HoldSignals& operator=(const HoldSignals&) = delete;

    bool stop_is_pending() const;

private:
    sigset_t held_;  // by this object, not by one around it
};

// The same three signals as something to poll(2): live work waits on fd() beside its rings.
class StopSignals {
public:
    StopSignals();
    // Readable once a signal came.
    int fd() const noexcept { return fd_.get(); }
    // The signal that came, or 0. It is consumed: the caller ends with raise_default().
    int take();

private:
    HoldSignals hold_;
    Fd fd_;
};

// One signal as something to poll(2), in place of what it does to the process, from here on: also
// after this object, because one that comes late shall end nothing.
class AwaitedSignal {
public:
    explicit AwaitedSignal(int signal);
    int fd() const noexcept { return fd_.get(); }
    // Whether it came since the last call.
    bool take();

private:
    Fd fd_;
};

// Ends this process by the signal's default action, as a shell expects of an interrupted command.
[[noreturn]] void die_of(int signal);

}  // namespace gpufs
