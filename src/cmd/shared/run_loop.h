#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/signals.h"
#include "cmd/shared/command.h"
#include "kernel/host/held_command.h"

namespace gpufs {

// Takes the COMMAND behind "--" off the arguments. Throws UsageError when there is only the "--".
std::vector<std::string> take_command(Args& args);

// "make ended with exit status 2", for a status of wait(2).
std::string end_text(std::string_view name, int status);

// What ends the work of a command, and what wakes it: --duration, a stop signal, the end of the
// COMMAND, the ticks of --interval. From its making on stop signals wait, so that everything is
// undone and reported first.
//
//   RunLoop loop(choices.duration, choices.interval);
//   loop.hold(choices.command);          // where there is one
//   ... set everything up ...
//   loop.begin();
//   do {
//       loop.wait();                     // or another wait, with loop.wake_fd() and loop.left()
//       work();
//       if (loop.tick(monotonic_ns())) report();
//   } while (!loop.is_over());
//   return loop.exit_status(kOk);
//
// Over a recording the time is that of its records: begin(), time_is_over() and tick() take it.
class RunLoop {
public:
    // Absent: it goes on until something else ends it; it does not tick.
    explicit RunLoop(std::optional<std::chrono::nanoseconds> duration,
                     std::optional<std::chrono::nanoseconds> interval = std::nullopt);

    // Forks the command, which begin() lets go; nothing where `argv` is empty.
    void hold(std::vector<std::string> argv);
    // Null where none is held.
    HeldCommand* command() noexcept { return command_ ? &*command_ : nullptr; }

    // Waits end for this descriptor, too, as long as it is readable.
    void wake_for(int fd) const;
    // Readable once a signal came or the command has ended, and while a descriptor of wake_for()
    // is.
    int wake_fd() const noexcept { return wakes_.get(); }

    // Takes the place of the duration; before begin().
    void end_after(std::chrono::nanoseconds duration) { duration_ = duration; }

    // Time runs from here; the command, too.
    void begin();
    // The same for work over a recording, whose first record is of this time.
    void begin(std::uint64_t first_ns);

    // How long to wait at most: until the end or the next tick, but no more than a minute. 0 when
    // one of them is over.
    std::chrono::milliseconds left() const;
    // Sleeps until wake_fd() is readable, so long as left() says, and no longer than this.
    void wait(std::chrono::milliseconds longest = std::chrono::minutes(1)) const;
    std::chrono::nanoseconds lasted() const;

    // The moment of the first tick that has passed since the last call. Further ones are left out.
    std::optional<std::uint64_t> tick(std::uint64_t now_ns);
    bool time_is_over(std::uint64_t now_ns) const { return now_ns >= end_ns_; }
    // Whether a signal came.
    bool is_interrupted();
    enum class End { none, signal, command, time };
    // Looks what has ended the work. Throws SysError, with exec's reason, when there was no command
    // to run.
    End end();
    bool is_over() { return end() != End::none; }

    // The line about how the command ended; empty while it runs, and where there is none.
    std::string command_end() const;
    // What a command returns for main(): `status`, or the signal that came as a negative number.
    int exit_status(int status) const { return signal_ != 0 ? -signal_ : status; }

private:
    static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

    std::optional<std::chrono::nanoseconds> duration_, interval_;
    StopSignals signals_;
    std::optional<HeldCommand> command_;
    Fd wakes_;  // an epoll
    std::uint64_t begin_ns_ = 0, end_ns_ = kNever, next_tick_ns_ = kNever;
    std::optional<int> command_status_;
    int signal_ = 0;
};

}  // namespace gpufs
