#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/signals.h"
#include "cmd/shared/command.h"
#include "kernel/host/held_command.h"

namespace gpufs {

// What commands that work until something ends them have in common.

// Takes the COMMAND behind "--" off the arguments. Throws UsageError when there is only the "--".
std::vector<std::string> take_command(Args& args);

// "make ended with exit status 2", for a status of wait(2).
std::string end_text(std::string_view name, int status);

// Live work: it goes on until its time is over, a stop signal comes, or its command ends. From its
// making on stop signals wait, so that everything is undone and reported first.
//
//   LiveRun live(choices.duration);
//   live.hold(choices.command);          // where there is one
//   ... set everything up, with live.stop_fd() to wait for ...
//   live.begin();
//   do {
//       wait(live.stop_fd(), live.left());
//       work();
//   } while (!live.is_over());
class LiveRun {
public:
    // `duration` as --duration gives it; absent: for as long as it takes. Throws UsageError.
    explicit LiveRun(const std::optional<std::string>& duration);

    // Forks the command, which begin() lets go; nothing where `argv` is empty.
    void hold(std::vector<std::string> argv);
    // Absent where none is held.
    const HeldCommand* command() const noexcept { return command_ ? &*command_ : nullptr; }

    // Readable, and stays so, once a signal came or the command has ended.
    int stop_fd() const noexcept { return stops_.get(); }

    // Time runs from here.
    void begin();
    std::chrono::nanoseconds lasted() const { return Clock::now() - begin_; }
    // How long to wait at most: the time that is left, but no more than a minute. 0 once it is
    // over.
    std::chrono::milliseconds left() const;
    // Throws SysError, with exec's reason, when there was no command to run.
    bool is_over();

    // The line about how the command ended; empty while it runs, and where there is none.
    std::string command_end() const;
    // Ends a command that still runs. A signal that came is returned as a negative number, for
    // die_of() when everything is undone; else 0.
    int finish();

private:
    using Clock = std::chrono::steady_clock;
    void watch(int fd) const;

    std::optional<std::chrono::nanoseconds> limit_;
    StopSignals signals_;
    std::optional<HeldCommand> command_;
    Fd stops_;  // an epoll
    Clock::time_point begin_ = Clock::now();
    std::optional<int> status_;
    int signal_ = 0;
};

}  // namespace gpufs
