#include "base/signals.h"

#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.h"

namespace gpufs {
namespace {

constexpr int kStops[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

bool is_ignored(int signal) {
    struct sigaction now {};
    ::sigaction(signal, nullptr, &now);
    return now.sa_handler == SIG_IGN;
}

sigset_t stop_set() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int signal : kStops)
        // What nohup(1) ignores remains ignored.
        if (signal == SIGINT || !is_ignored(signal)) ::sigaddset(&set, signal);
    return set;
}

Fd open_signals(const sigset_t& set) {
    return Fd{check(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
                    [] { return std::string("make a signalfd"); })};
}

// The received signal, or 0.
int take_from(const Fd& fd) {
    signalfd_siginfo info{};
    if (::read(fd.get(), &info, sizeof info) != sizeof info) return 0;
    return static_cast<int>(info.ssi_signo);
}

}  // namespace

HoldSignals::HoldSignals() : held_(stop_set()) {
    sigset_t before;
    ::sigprocmask(SIG_BLOCK, &held_, &before);
    // A shell without job control starts what is in the background with SIGINT ignored, so that
    // Ctrl-C does not reach it; whoever sends it by its number wants the end of the run.
    if (is_ignored(SIGINT)) ::signal(SIGINT, SIG_DFL);
    for (const int signal : kStops)
        if (::sigismember(&before, signal) == 1) ::sigdelset(&held_, signal);
}

// Unblocks only what this object blocked.
HoldSignals::~HoldSignals() {
    ::sigprocmask(SIG_UNBLOCK, &held_, nullptr);
}

bool HoldSignals::stop_is_pending() const {
    sigset_t pending;
    ::sigpending(&pending);
    const sigset_t set = stop_set();
    for (const int signal : kStops)
        if (::sigismember(&set, signal) == 1 && ::sigismember(&pending, signal) == 1) return true;
    return false;
}

void HoldSignals::forget_pending() const {
    const sigset_t set = stop_set();
    constexpr timespec kAtOnce{};
    while (::sigtimedwait(&set, nullptr, &kAtOnce) > 0) {
    }
}

StopSignals::StopSignals() {
    fd_ = open_signals(stop_set());
}

int StopSignals::take() {
    return take_from(fd_);
}

AwaitedSignal::AwaitedSignal(int signal) {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, signal);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    fd_ = open_signals(set);
}

bool AwaitedSignal::take() {
    return take_from(fd_) != 0;
}

std::optional<int> find_user_signal(std::string_view name) {
    if (name == "SIGUSR1") return SIGUSR1;
    if (name == "SIGUSR2") return SIGUSR2;
    return std::nullopt;
}

void die_of(int signal) {
    const rlimit no_core{};  // SIGQUIT would leave one
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::signal(signal, SIG_DFL);
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, signal);
    ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
    ::raise(signal);
    std::_Exit(128 + signal);
}

}  // namespace gpufs
