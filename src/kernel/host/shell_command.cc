#include "kernel/host/shell_command.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/signals.h"
#include "kernel/host/held_command.h"

namespace gpufs {
namespace {

constexpr int kPatienceMs = 200;

// What can be read without waiting; whether more may come.
bool pass_on(const Fd& from, const std::function<void(std::string_view)>& take) {
    char part[16 << 10];
    for (;;) {
        const ssize_t got = ::read(from.get(), part, sizeof part);
        if (got > 0) {
            take({part, static_cast<std::size_t>(got)});
        } else if (got == 0 || errno != EINTR) {
            return got != 0 && errno == EAGAIN;
        }
    }
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
    while (!shell.ended()) {
        const int ready = ::poll(awaited, 2, kPatienceMs);
        if (ready == 0 && hold.stop_is_pending()) shell.end();
        // Its end alone tells that it closed its output.
        if (awaited[0].revents != 0 && !pass_on(output, take)) awaited[0].fd = -1;
    }
    pass_on(output, take);
}

}  // namespace gpufs
