#include "kernel/host/held_command.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/error.h"

namespace gpufs {
namespace {

// In the child: nothing but system calls.
[[noreturn]] void run_child(int go, int failure, char* const* argv) {
    ::signal(SIGPIPE, SIG_DFL);
    char byte = 0;
    ssize_t n = 0;
    do n = ::read(go, &byte, 1);
    while (n == -1 && errno == EINTR);
    if (n != 1) ::_exit(127);  // gpufs gave up before it began
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execvp(argv[0], argv);
    const int code = errno;
    [[maybe_unused]] const ssize_t told = ::write(failure, &code, sizeof code);
    ::_exit(127);
}

}  // namespace

HeldCommand::HeldCommand(std::vector<std::string> argv) : argv_(std::move(argv)) {
    int go[2], failure[2];
    const auto describe = [] { return std::string("make a pipe"); };
    check(::pipe2(go, O_CLOEXEC), describe);
    const Fd go_out(go[0]);
    go_ = Fd(go[1]);
    check(::pipe2(failure, O_CLOEXEC | O_NONBLOCK), describe);
    failure_ = Fd(failure[0]);
    const Fd failure_in(failure[1]);
    std::vector<char*> words;
    for (std::string& word : argv_) words.push_back(word.data());
    words.push_back(nullptr);
    // Where SIGCHLD is ignored, as it may be inherited, the kernel reaps and nobody hears how it
    // ended.
    ::signal(SIGCHLD, SIG_DFL);
    pid_ = check(::fork(), [] { return std::string("fork"); });
    if (pid_ == 0) {
        // The parent's end would keep this end from seeing that the parent is gone.
        ::close(go_.get());
        run_child(go_out.get(), failure_in.get(), words.data());
    }
    // pidfd_open(2), Linux 5.3. glibc has a wrapper for it since 2.36 only.
    pidfd_ = Fd(check(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)),
                      [] { return std::string("watch the command"); }));
}

HeldCommand::~HeldCommand() {
    if (pid_ <= 0) return;
    if (!go_) {
        end();
        return;
    }
    go_ = Fd();  // never started: it ends by itself
    ::waitpid(pid_, nullptr, 0);
}

std::optional<int> HeldCommand::reap() {
    int status = 0;
    if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
    return status_;
}

std::optional<int> HeldCommand::end() {
    if (reap()) return status_;
    ::kill(pid_, SIGTERM);
    constexpr useconds_t kPatienceUs = 200'000, kStepUs = 5'000;
    for (useconds_t waited = 0; waited < kPatienceUs && !reap(); waited += kStepUs)
        ::usleep(kStepUs);
    return status_;
}

// The exec may take long (a file system that does not answer), so its success is not waited for.
void HeldCommand::release() {
    const char byte = 1;
    check(::write(go_.get(), &byte, 1), [] { return std::string("start the command"); });
    go_ = Fd();
}

std::optional<int> HeldCommand::ended() {
    if (status_ || !reap()) return status_;
    int code = 0;
    // Empty when the exec succeeded: it closed the other end.
    if (::read(failure_.get(), &code, sizeof code) == sizeof code)
        throw SysError(code, cat("run '", name(), "'"));
    return status_;
}

}  // namespace gpufs
