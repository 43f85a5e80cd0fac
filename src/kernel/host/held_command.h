#pragma once

#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/signals.h"
#include "kernel/host/program_start.h"

namespace gpufs {

// A command that is forked but waits before its exec until all tracing is set up. The destructor
// sends SIGTERM if it still runs, and reaps it.
class HeldCommand {
public:
    // Throws SysError. The command does not inherit our blocked or ignored signals. `output`: the
    // descriptor that becomes its standard output.
    explicit HeldCommand(std::vector<std::string> argv, int output = STDOUT_FILENO);
    ~HeldCommand();
    HeldCommand(const HeldCommand&) = delete;
    HeldCommand& operator=(const HeldCommand&) = delete;

    int pid() const noexcept { return pid_; }
    const std::string& name() const noexcept { return argv_.front(); }
    // Asks for the stops of ProgramStart: call it before release(). Returns a descriptor that is
    // readable when the command has stopped.
    int stop_at_start();
    // Whether it is stopped so, until go_on().
    bool is_stopped();
    void go_on();
    // Lets the command exec. Throws Error if something ended it while it waited; SIGPIPE must be
    // ignored.
    void release();
    // Readable when the command has ended.
    int fd() const noexcept { return pidfd_.get(); }
    // The status of wait(2) once the command has ended; reaps it. Throws SysError with the reason
    // if the exec failed.
    std::optional<int> ended();
    // Sends SIGTERM if it still runs and waits up to 0.2 s; a command that ignores SIGTERM keeps
    // running. Returns the status like ended().
    std::optional<int> end();

private:
    std::vector<std::string> argv_;
    std::optional<int> reap();

    int pid_ = -1;
    Fd go_, failure_, pidfd_;
    std::optional<AwaitedSignal> child_signal_;  // with start_
    std::optional<ProgramStart> start_;
    std::optional<int> status_;
};

}  // namespace gpufs
