#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"

namespace gpufs {

// A command that is forked and held before its exec, until everything that shall watch it is set
// up. The destructor ends it with SIGTERM if it still runs, and reaps it.
class HeldCommand {
public:
    // Throws SysError. The command does not inherit blocked or ignored signals of ours.
    explicit HeldCommand(std::vector<std::string> argv);
    ~HeldCommand();
    HeldCommand(const HeldCommand&) = delete;
    HeldCommand& operator=(const HeldCommand&) = delete;

    int pid() const noexcept { return pid_; }
    const std::string& name() const noexcept { return argv_.front(); }
    // Lets it exec.
    void release();
    // Readable when it has ended.
    int fd() const noexcept { return pidfd_.get(); }
    // The status of wait(2) once it has ended; reaps it. Throws SysError, with exec's reason, when
    // there was no command to run.
    std::optional<int> ended();
    // Sends SIGTERM if it still runs, and waits 0.2 s for its end: one that takes no SIGTERM goes
    // on. Its status as ended() gives it.
    std::optional<int> end();

private:
    std::vector<std::string> argv_;
    std::optional<int> reap();

    int pid_ = -1;
    Fd go_, failure_, pidfd_;
    std::optional<int> status_;
};

}  // namespace gpufs
