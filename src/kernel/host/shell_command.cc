#include "kernel/host/shell_command.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>

#include "base/error.h"
#include "base/signals.h"
#include "kernel/host/held_command.h"

namespace gpufs {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPatience{200};

// Some of what can be read without waiting; whether more may come.
bool pass_on(const Fd& from, const std::function<void(std::string_view)>& take) {
    char part[64 << 10];  // a pipe's
    const ssize_t got = ::read(from.get(), part, sizeof part);
    if (got > 0) take({part, static_cast<std::size_t>(got)});
    return got > 0 || (got == -1 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace

void run_shell(const std::string& command, const std::function<void(std::string_view)>& take) {
    int ends[2];
    check(::pipe2(ends, O_CLOEXEC), [] { return std::string("make a pipe"); });
    const Fd output(ends[0]);
    Fd input(ends[1]);
    check(::fcntl(output.get(), F_SETFL, O_NONBLOCK), [] { return std::string("read a pipe"); });
    HeldCommand shell({"/bin/sh", "-c", command}, input.get());
    input = Fd();
    shell.release();

    const HoldSignals hold;
    pollfd awaited[] = {{output.get(), POLLIN, 0}, {shell.fd(), POLLIN, 0}};
    std::optional<Clock::time_point> end_at;
    while (!shell.ended()) {
        ::poll(awaited, 2, static_cast<int>(kPatience.count()));
        // Its end alone tells that it closed its output.
        if (awaited[0].revents != 0 && !pass_on(output, take)) awaited[0].fd = -1;
        if (!end_at && hold.stop_is_pending()) end_at = Clock::now() + kPatience;
        if (end_at && Clock::now() >= *end_at) shell.end();
    }
    pass_on(output, take);  // all of it, because no more fits into a pipe
}

}  // namespace gpufs
