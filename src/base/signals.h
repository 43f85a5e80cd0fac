#pragma once

#include <csignal>
#include <optional>
#include <string_view>

#include "base/fd.h"

namespace gpufs {

// Blocks SIGINT, SIGTERM, SIGHUP and SIGQUIT during its lifetime; SIGINT is heard even where it was
// ignored before. A signal received meanwhile takes its usual effect at the end of the scope, so
// the work in between completes, and the shell still sees that the signal ended the process.
class HoldSignals {
public:
    HoldSignals();
    ~HoldSignals();
    HoldSignals(const HoldSignals&) = delete;
    HoldSignals& operator=(const HoldSignals&) = delete;

    bool stop_is_pending() const;
    // What is pending has no effect any more.
    void forget_pending() const;

private:
    sigset_t held_;  // blocked by this object, not by an outer one
};

// Makes the same signals available to poll(2): live work waits on fd() together with its
// rings.
class StopSignals {
public:
    StopSignals();
    // Readable after a signal was received.
    int fd() const noexcept { return fd_.get(); }
    // Returns and consumes the received signal, or 0. The caller must end with die_of().
    int take();

private:
    HoldSignals hold_;
    Fd fd_;
};

// Makes one signal available to poll(2) instead of its default effect, even after this object is
// destroyed, so that a late signal does not end the process.
class AwaitedSignal {
public:
    explicit AwaitedSignal(int signal);
    int fd() const noexcept { return fd_.get(); }
    // Whether the signal was received since the last call.
    bool take();

private:
    Fd fd_;
};

// The number of SIGUSR1 or SIGUSR2, which have no meaning of their own.
std::optional<int> find_user_signal(std::string_view name);

// Terminates this process by the signal's default action, as shells expect of an interrupted
// command.
[[noreturn]] void die_of(int signal);

}  // namespace gpufs
