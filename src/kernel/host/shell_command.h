#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace gpufs {

// Runs it by /bin/sh and hands over what it writes to its standard output, in pieces as they come,
// until the shell has ended: what it left in the background is not waited for. A command that still
// runs 0.2 s after a signal that stops us, which the caller holds back, gets SIGTERM. Throws
// SysError.
void run_shell(const std::string& command, const std::function<void(std::string_view)>& take);

}  // namespace gpufs
