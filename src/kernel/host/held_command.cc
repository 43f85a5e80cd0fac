#include "kernel/host/held_command.h"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/error.h"
#include "kernel/host/pidfd.h"
#include "kernel/host/program_path.h"

namespace gpufs {
namespace {

// execvp(2) would try each folder of $PATH, and the calls that fail would count as the command's.
std::string path_of(const std::string& command) {
    if (command.find('/') != command.npos) return command;
    return find_program_in_path(command).value_or(command);
}

// Runs in the child: only system calls are allowed.
[[noreturn]] void run_child(int go, int failure, int output, const char* file, char* const* argv) {
    ::signal(SIGPIPE, SIG_DFL);
    ::signal(SIGXFSZ, SIG_DFL);
    if (output != STDOUT_FILENO) ::dup2(output, STDOUT_FILENO);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    char byte = 0;
    ssize_t n = 0;
    do n = ::read(go, &byte, 1);
    while (n == -1 && errno == EINTR);
    if (n != 1) ::_exit(127);  // gpufs gave up before it began
    ::execv(file, argv);
    if (errno == ENOEXEC || errno == ENOENT) ::execvp(argv[0], argv);  // of a shell, or of none
    const int code = errno;
    [[maybe_unused]] const ssize_t told = ::write(failure, &code, sizeof code);
    ::_exit(127);
}

}  // namespace

HeldCommand::HeldCommand(std::vector<std::string> argv, int output)
    : argv_(std::move(argv)), file_(path_of(argv_.front())) {
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
    // An inherited "ignore" of SIGCHLD would make the kernel reap the child and lose its exit
    // status.
    ::signal(SIGCHLD, SIG_DFL);
    pid_ = check(::fork(), [] { return std::string("fork"); });
    if (pid_ == 0) {
        // If the child kept the parent's end, it would not notice the parent's death.
        ::close(go_.get());
        run_child(go_out.get(), failure_in.get(), output, file_.c_str(), words.data());
    }
    pidfd_ = open_pidfd(pid_, "watch the command");
}

HeldCommand::~HeldCommand() {
    if (pid_ <= 0) return;
    if (!go_) {
        end();
        return;
    }
    go_ = Fd();  // never started: exits when the pipe closes
    ::waitpid(pid_, nullptr, 0);
}

std::optional<int> HeldCommand::reap() {
    int status = 0;
    if (status_ || ::waitpid(pid_, &status, WNOHANG) != pid_) return status_;
    if (!WIFSTOPPED(status)) {
        status_ = status;
        return status_;
    }
    // It made its parent its tracer (PTRACE_TRACEME).
    const int signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
    ::ptrace(PTRACE_DETACH, pid_, nullptr, signal);
    return std::nullopt;
}

std::optional<int> HeldCommand::end() {
    if (reap()) return status_;
    ::kill(pid_, SIGTERM);
    constexpr useconds_t kPatienceUs = 200'000, kStepUs = 5'000;
    for (useconds_t waited = 0; waited < kPatienceUs && !reap(); waited += kStepUs)
        ::usleep(kStepUs);
    return status_;
}

// Does not wait for the exec to succeed: it may take long (an unresponsive file system).
void HeldCommand::release() {
    const char byte = 1;
    const ssize_t written = ::write(go_.get(), &byte, 1);
    // Only the held child has the reading end. As a SysError it would be taken for a reader of our
    // output that went away.
    if (written == -1 && errno == EPIPE)
        throw Error(cat("'", name(), "' ended before it was started"));
    check(written, [] { return std::string("start the command"); });
    go_ = Fd();
}

std::optional<int> HeldCommand::ended() {
    if (status_ || !reap()) return status_;
    int code = 0;
    // A read returns nothing when the exec succeeded, because it closed the other end.
    if (::read(failure_.get(), &code, sizeof code) == sizeof code)
        throw SysError(code, cat("run '", name(), "'"));
    return status_;
}

}  // namespace gpufs
