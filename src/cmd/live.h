#pragma once

#include <string>
#include <vector>

#include "cmd/command.h"
#include "gpufs/base/fd.h"
#include "gpufs/base/signals.h"
#include "gpufs/kernel/held_command.h"

namespace gpufs {

// What commands that work until something ends them have in common.

// Takes the COMMAND behind "--" off the arguments. Throws UsageError when there is only the "--".
std::vector<std::string> take_command(Args& args);

// Stop signals and the end of a command as one descriptor to wait for.
class Stops {
public:
    // `command` may be null. Both are borrowed.
    Stops(const StopSignals& signals, const HeldCommand* command);
    int fd() const { return fd_.get(); }

private:
    void add(int fd);
    Fd fd_;
};

// "make ended with exit status 2", for a status of wait(2).
std::string end_text(const HeldCommand& command, int status);

}  // namespace gpufs
