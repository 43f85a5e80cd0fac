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

// Removes the COMMAND after "--" from the arguments and returns it. Throws UsageError if nothing
// follows "--".
std::vector<std::string> take_command(Args& args);

// "make ended with exit status 2", for a status of wait(2).
std::string end_text(std::string_view command, int status);

// Ends a command that did not end the run, and returns a sentence about it. It may have exited by
// itself meanwhile.
std::string end_command(HeldCommand& command);

// The exit status that a shell gives a COMMAND that ended with this status of wait(2): 128 and the
// signal's number where one ended it.
int exit_status_of(int status);

// Where COMMAND's standard output goes. `apart`: to standard error.
enum class CommandOutput { as_it_is, apart };
// Apart where ours is JSON on standard output: lines of others between would make it unreadable for
// a program.
CommandOutput command_output(const Output& ours, bool is_json);

// The events that end or wake the work of a command: --duration, a stop signal, the exit of the
// COMMAND, the ticks of --interval. Blocks stop signals from its construction on, so that
// everything is undone and reported first.
//
//   RunLoop loop(choices.duration, choices.interval);
//   loop.hold(choices.command, output);  // if there is one
//   ... set everything up ...
//   loop.begin();
//   do {
//       loop.wait();                     // or another wait, with loop.wake_fd() and loop.left()
//       work();
//       if (loop.tick(monotonic_ns())) report();
//   } while (!loop.is_over());
//   return loop.exit_status(kOk);
//
// For a recording, the time is that of its records, passed to begin(), time_is_over() and tick().
class RunLoop {
public:
    // Without `duration` there is no time limit; without `interval` there are no ticks.
    explicit RunLoop(std::optional<std::chrono::nanoseconds> duration,
                     std::optional<std::chrono::nanoseconds> interval = std::nullopt);

    // Forks the command; begin() lets it exec. Does nothing if `argv` is empty.
    void hold(std::vector<std::string> argv, CommandOutput output = CommandOutput::as_it_is);
    // Null if there is no command.
    HeldCommand* command() noexcept { return command_ ? &*command_ : nullptr; }

    // The work ends when the last of these processes, or of those that these threads are of, has
    // ended; without a command, which else ends it. Throws Error if one is not there.
    void end_with(const std::vector<int>& pids);

    // Waits also end while this descriptor is readable.
    void wake_for(int fd) const;
    // Readable after a signal or the command's exit, and while a descriptor of wake_for() is.
    int wake_fd() const noexcept { return wakes_.get(); }

    // Replaces the duration; call it before begin().
    void end_after(std::chrono::nanoseconds duration) { duration_ = duration; }

    // Starts the time and the command.
    void begin();
    // The same for a recording: `first_ns` is the time of its first record.
    void begin(std::uint64_t first_ns);

    // How long to wait at most: until the end or the next tick, but no more than a minute. 0 if one
    // of them is due.
    std::chrono::milliseconds left() const;
    // Sleeps until wake_fd() is readable, at most left() and `longest`.
    void wait(std::chrono::milliseconds longest = std::chrono::minutes(1)) const;
    std::chrono::nanoseconds lasted() const;

    // The time of the first tick due since the last call; skips further ones.
    std::optional<std::uint64_t> tick(std::uint64_t now_ns);
    bool time_is_over(std::uint64_t now_ns) const { return end_ns_ != kNever && now_ns >= end_ns_; }
    // Whether a signal was received.
    bool is_interrupted();
    enum class End { none, signal, command, time };  // command: or the processes of end_with()
    // What has ended the work, if anything. Throws SysError with the reason if the command could
    // not be executed.
    End end();
    bool is_over() { return end() != End::none; }

    // A line about how the command ended; where it still runs, it is ended now. Or that the
    // processes of end_with() have ended. Empty if there is none, and if it was never started.
    std::string command_end();
    // The return value of Command::run: the negative number of the signal that ended the work; else
    // `status`, or where that is kOk the command's, as shells have it: 128 and its number if a
    // signal ended it.
    int exit_status(int status) const;

private:
    bool have_processes_ended();

    static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

    std::optional<std::chrono::nanoseconds> duration_, interval_;
    StopSignals signals_;
    std::optional<HeldCommand> command_;
    std::optional<AwaitedSignal> child_signal_;  // with a command: it may stop (HeldCommand::ended)
    bool is_released_ = false;
    std::string processes_;         // of end_with(), in words
    std::vector<Fd> process_ends_;  // of those that run: pidfds
    Fd wakes_;                      // an epoll descriptor
    std::uint64_t begin_ns_ = 0, end_ns_ = kNever, next_tick_ns_ = kNever;
    std::optional<int> command_status_;
    int signal_ = 0;
};

}  // namespace gpufs
