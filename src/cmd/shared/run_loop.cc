#include "cmd/shared/run_loop.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/clock.h"
#include "base/error.h"
#include "base/printable.h"
#include "base/saturate.h"
#include "kernel/host/pidfd.h"
#include "kernel/host/proc_task.h"

namespace gpufs {
namespace {

using std::chrono::milliseconds;

std::uint64_t later(std::uint64_t from_ns, std::chrono::nanoseconds time) {
    return add_saturating(from_ns, static_cast<std::uint64_t>(time.count()));
}

}  // namespace

std::vector<std::string> take_command(Args& args) {
    const auto dashes = std::ranges::find(args, "--");
    if (dashes == args.end()) return {};
    std::vector<std::string> command(dashes + 1, args.end());
    if (command.empty()) throw UsageError("there is no COMMAND behind --");
    args = args.first(static_cast<std::size_t>(dashes - args.begin()));
    return command;
}

std::string end_text(std::string_view command, int status) {
    const std::string name = printable(command);
    if (WIFSIGNALED(status))
        return cat(name, " was ended by signal ", WTERMSIG(status), " (",
                   ::strsignal(WTERMSIG(status)), ")");
    return cat(name, " ended with exit status ", WEXITSTATUS(status));
}

std::string end_command(HeldCommand& command) {
    const auto status = command.end();
    const std::string name = cat("'", command.name(), "' (pid ", command.pid(), ")");
    if (!status) return cat(printable(name), " got SIGTERM and goes on");
    if (WIFSIGNALED(*status) && WTERMSIG(*status) == SIGTERM)
        return cat(printable(name), " was ended with SIGTERM");
    return end_text(name, *status);
}

int exit_status_of(int status) {
    constexpr int kSignal = 128;
    return WIFSIGNALED(status) ? kSignal + WTERMSIG(status) : WEXITSTATUS(status);
}

CommandOutput command_output(const Output& ours, bool is_json) {
    return is_json && ours.fd() == STDOUT_FILENO ? CommandOutput::apart : CommandOutput::as_it_is;
}

RunLoop::RunLoop(std::optional<std::chrono::nanoseconds> duration,
                 std::optional<std::chrono::nanoseconds> interval)
    : duration_(duration),
      interval_(interval),
      wakes_(check(::epoll_create1(EPOLL_CLOEXEC), [] { return std::string("make an epoll"); })) {
    wake_for(signals_.fd());
}

void RunLoop::wake_for(int fd) const {
    epoll_event event{};
    event.events = EPOLLIN;
    check(::epoll_ctl(wakes_.get(), EPOLL_CTL_ADD, fd, &event),
          [] { return std::string("wait for a descriptor"); });
}

void RunLoop::hold(std::vector<std::string> argv, CommandOutput output) {
    if (argv.empty()) return;
    command_.emplace(std::move(argv),
                     output == CommandOutput::apart ? STDERR_FILENO : STDOUT_FILENO);
    child_signal_.emplace(SIGCHLD);
    wake_for(child_signal_->fd());
}

void RunLoop::end_with(const std::vector<int>& pids) {
    if (command_) return;
    for (const int pid : pids) {
        const int process = proc::require_tgid(pid);
        Fd end = open_pidfd(process, cat("wait for the end of process ", process));
        wake_for(end.get());
        process_ends_.push_back(std::move(end));
    }
    if (pids.size() == 1)
        processes_ = cat("process ", pids.front(), " has ended");
    else if (!pids.empty())
        processes_ = cat("all ", pids.size(), " processes have ended");
}

bool RunLoop::have_processes_ended() {
    if (processes_.empty()) return false;
    std::erase_if(process_ends_, [](const Fd& one) {
        pollfd end{one.get(), POLLIN, 0};
        return ::poll(&end, 1, 0) == 1;
    });
    return process_ends_.empty();
}

void RunLoop::begin() {
    begin(monotonic_ns());
    if (!command_) return;
    command_->release();
    is_released_ = true;
}

void RunLoop::begin(std::uint64_t first_ns) {
    begin_ns_ = first_ns;
    if (duration_) end_ns_ = later(first_ns, *duration_);
    if (interval_) next_tick_ns_ = later(first_ns, *interval_);
}

milliseconds RunLoop::left() const {
    constexpr milliseconds kLongest = std::chrono::minutes(1);
    const std::uint64_t next = std::min(end_ns_, next_tick_ns_), now = monotonic_ns();
    if (next == kNever) return kLongest;
    if (next <= now) return milliseconds(0);
    const std::chrono::nanoseconds left(static_cast<std::int64_t>(next - now));
    return std::min(std::chrono::ceil<milliseconds>(left), kLongest);
}

void RunLoop::wait(milliseconds longest) const {
    pollfd wake{wakes_.get(), POLLIN, 0};
    ::poll(&wake, 1, static_cast<int>(std::min(left(), longest).count()));
}

std::chrono::nanoseconds RunLoop::lasted() const {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(monotonic_ns() - begin_ns_));
}

std::optional<std::uint64_t> RunLoop::tick(std::uint64_t now_ns) {
    if (now_ns < next_tick_ns_ || next_tick_ns_ == kNever) return std::nullopt;
    const auto distance = static_cast<std::uint64_t>(interval_->count());
    const std::uint64_t moment = next_tick_ns_;
    const std::uint64_t last_due = moment + (now_ns - moment) / distance * distance;
    next_tick_ns_ = add_saturating(last_due, distance);
    return moment;
}

bool RunLoop::is_interrupted() {
    if (signal_ == 0) signal_ = signals_.take();
    return signal_ != 0;
}

RunLoop::End RunLoop::end() {
    if (command_) {
        child_signal_->take();
        command_status_ = command_->ended();
    }
    if (is_interrupted()) return End::signal;
    if (command_status_ || have_processes_ended()) return End::command;
    return time_is_over(monotonic_ns()) ? End::time : End::none;
}

int RunLoop::exit_status(int status) const {
    if (signal_ != 0) return -signal_;
    if (status != kOk || !command_status_) return status;
    return exit_status_of(*command_status_);
}

std::string RunLoop::command_end() {
    if (command_status_) return end_text(command_->name(), *command_status_);
    if (!processes_.empty() && process_ends_.empty()) return processes_;
    return command_ && is_released_ ? end_command(*command_) : std::string();
}

}  // namespace gpufs
