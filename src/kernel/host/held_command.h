#pragma once

#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"

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
    // The path of the program that it will run.
    const std::string& file() const noexcept { return file_; }
    // Lets the command exec. Throws Error if something ended it while it waited; SIGPIPE must be
    // ignored.
    void release();
    // Readable when the command has ended.
    int fd() const noexcept { return pidfd_.get(); }
    // The status of wait(2) once the command has ended; reaps it. Throws SysError with the reason
    // if the exec failed. One that stops because it made this process its tracer goes on.
    std::optional<int> ended();
    // Sends SIGTERM if it still runs and waits up to 0.2 s; a command that ignores SIGTERM keeps
    // running. Returns the status like ended().
    std::optional<int> end();

private:
    std::vector<std::string> argv_;
    std::string file_;
    std::optional<int> reap();

    int pid_ = -1;
    Fd go_, failure_, pidfd_;
    std::optional<int> status_;
};

}  // namespace gpufs
