#include "cmd/live.h"

#include <sys/epoll.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>

#include "gpufs/base/error.h"

namespace gpufs {

std::vector<std::string> take_command(Args& args) {
    const auto dashes = std::ranges::find(args, "--");
    if (dashes == args.end()) return {};
    std::vector<std::string> command(dashes + 1, args.end());
    if (command.empty()) throw UsageError("there is no COMMAND behind --");
    args = args.first(static_cast<std::size_t>(dashes - args.begin()));
    return command;
}

Stops::Stops(const StopSignals& signals, const HeldCommand* command)
    : fd_(check(::epoll_create1(EPOLL_CLOEXEC), [] { return std::string("make an epoll"); })) {
    add(signals.fd());
    if (command) add(command->fd());
}

void Stops::add(int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    check(::epoll_ctl(fd_.get(), EPOLL_CTL_ADD, fd, &event),
          [] { return std::string("wait for a descriptor"); });
}

std::string end_text(const HeldCommand& command, int status) {
    if (WIFSIGNALED(status))
        return cat(command.name(), " was ended by signal ", WTERMSIG(status), " (",
                   ::strsignal(WTERMSIG(status)), ")");
    return cat(command.name(), " ended with exit status ", WEXITSTATUS(status));
}

}  // namespace gpufs
