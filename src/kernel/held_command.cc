#include "gpufs/kernel/held_command.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "gpufs/base/error.h"

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
    if (pid_ <= 0 || status_) return;
    if (go_) {
        go_ = Fd();  // never started: it ends by itself
    } else {
        ::kill(pid_, SIGTERM);
        // One that takes no SIGTERM goes on without us.
        constexpr useconds_t kPatienceUs = 200'000;
        for (useconds_t waited = 0; waited < kPatienceUs; waited += 5'000) {
            if (::waitpid(pid_, nullptr, WNOHANG) == pid_) return;
            ::usleep(5'000);
        }
        return;
    }
    ::waitpid(pid_, nullptr, 0);
}

// The exec may take long (a file system that does not answer), so its success is not waited for.
void HeldCommand::release() {
    const char byte = 1;
    check(::write(go_.get(), &byte, 1), [] { return std::string("start the command"); });
    go_ = Fd();
}

std::optional<int> HeldCommand::ended() {
    if (status_ || pid_ <= 0) return status_;
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
    status_ = status;
    int code = 0;
    // Empty when the exec succeeded: it closed the other end.
    if (::read(failure_.get(), &code, sizeof code) == sizeof code)
        throw SysError(code, cat("run '", name(), "'"));
    return status_;
}

}  // namespace gpufs
