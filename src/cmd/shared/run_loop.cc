#include "cmd/shared/run_loop.h"

#include <sys/epoll.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/units.h"

namespace gpufs {

std::vector<std::string> take_command(Args& args) {
    const auto dashes = std::ranges::find(args, "--");
    if (dashes == args.end()) return {};
    std::vector<std::string> command(dashes + 1, args.end());
    if (command.empty()) throw UsageError("there is no COMMAND behind --");
    args = args.first(static_cast<std::size_t>(dashes - args.begin()));
    return command;
}

std::string end_text(std::string_view name, int status) {
    if (WIFSIGNALED(status))
        return cat(name, " was ended by signal ", WTERMSIG(status), " (",
                   ::strsignal(WTERMSIG(status)), ")");
    return cat(name, " ended with exit status ", WEXITSTATUS(status));
}

LiveRun::LiveRun(const std::optional<std::string>& duration)
    : stops_(check(::epoll_create1(EPOLL_CLOEXEC), [] { return std::string("make an epoll"); })) {
    if (duration) limit_ = parse_duration("--duration", *duration);
    watch(signals_.fd());
}

void LiveRun::watch(int fd) const {
    epoll_event event{};
    event.events = EPOLLIN;
    check(::epoll_ctl(stops_.get(), EPOLL_CTL_ADD, fd, &event),
          [] { return std::string("wait for a descriptor"); });
}

void LiveRun::hold(std::vector<std::string> argv) {
    if (argv.empty()) return;
    command_.emplace(std::move(argv));
    watch(command_->fd());
}

void LiveRun::begin() {
    begin_ = Clock::now();
    if (command_) command_->release();
}

std::chrono::milliseconds LiveRun::left() const {
    using std::chrono::milliseconds;
    constexpr milliseconds kLongest{60'000};
    if (!limit_) return kLongest;
    return std::clamp(std::chrono::ceil<milliseconds>(*limit_ - lasted()), milliseconds(0),
                      kLongest);
}

bool LiveRun::is_over() {
    if (command_) status_ = command_->ended();
    if (signal_ == 0) signal_ = signals_.take();
    return status_ || signal_ != 0 || left().count() == 0;
}

std::string LiveRun::command_end() const {
    return status_ ? end_text(command_->name(), *status_) : std::string();
}

int LiveRun::finish() {
    if (signal_ != 0) command_.reset();
    return -signal_;
}

}  // namespace gpufs
