#include "support/run_gpufs.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "base/cat.h"
#include "support/json_page.h"

namespace gpufs::test {

Child::Child(const Setup& setup) : argv_(setup.argv) {
    int out[2], err[2];
    if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0)
        throw std::runtime_error("pipe failed");
    pid_ = ::fork();
    if (pid_ == -1) throw std::runtime_error("fork failed");
    if (pid_ == 0) {
        const int to = setup.stdout_file.empty()
                           ? out[1]
                           : ::open(setup.stdout_file.c_str(), O_WRONLY | O_CREAT, 0600);
        ::dup2(to, STDOUT_FILENO);
        ::dup2(err[1], STDERR_FILENO);
        // Boost.Test's own handlers must not be what the child starts with.
        ::signal(SIGPIPE, SIG_DFL);
        constexpr unsigned kNobody = 65534;
        if (setup.as_nobody &&
            (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0))
            ::_exit(126);
        // Nothing goes on when the tests are killed. The kernel forgets it at setuid(2).
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (const std::string& entry : setup.environment)
            ::putenv(const_cast<char*>(entry.c_str()));
        std::vector<char*> argv;
        for (const std::string& arg : setup.argv) argv.push_back(const_cast<char*>(arg.c_str()));
        argv.push_back(nullptr);
        ::execvp(argv[0], argv.data());
        ::_exit(127);
    }
    ::close(out[1]);
    ::close(err[1]);
    out_ = out[0];
    err_ = err[0];
    if (setup.close_stdout_early) {
        ::close(out_);
        out_ = -1;
    }
}

Child::~Child() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    if (out_ >= 0) ::close(out_);
    if (err_ >= 0) ::close(err_);
}

void Child::send(int signal) const {
    ::kill(pid_, signal);
}

bool Child::read_some(int timeout_ms) {
    pollfd fds[] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
    if (out_ < 0 && err_ < 0) return false;
    if (::poll(fds, 2, timeout_ms) <= 0) return timeout_ms < 0;
    const auto drain = [](int& fd, std::string& to) {
        char chunk[65536];
        const ssize_t n = ::read(fd, chunk, sizeof chunk);
        if (n > 0) {
            to.append(chunk, static_cast<std::size_t>(n));
        } else {
            ::close(fd);
            fd = -1;
        }
    };
    if (fds[0].revents) drain(out_, ended_.out);
    if (fds[1].revents) drain(err_, ended_.err);
    return true;
}

bool Child::wait_for(const std::string& stream, const std::string& text,
                     std::chrono::milliseconds limit) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (stream.find(text) == std::string::npos) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            until - std::chrono::steady_clock::now());
        if (left.count() <= 0 || !read_some(static_cast<int>(left.count()))) return false;
    }
    return true;
}

bool Child::wait_for_output(const std::string& text, std::chrono::milliseconds limit) {
    return wait_for(ended_.out, text, limit);
}

bool Child::wait_for_error(const std::string& text, std::chrono::milliseconds limit) {
    return wait_for(ended_.err, text, limit);
}

Ended Child::wait() {
    while (read_some(-1)) {
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    if (WIFEXITED(status)) ended_.status = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) ended_.signal = WTERMSIG(status);
    if (argv_.at(0) == gpufs_binary() && !ended_.out.empty()) {
        const std::vector<std::string> args(argv_.begin() + 1, argv_.end());
        const auto end = std::ranges::find(args, "--");
        if (std::find(args.begin(), end, "--json") != end) check_json(args, ended_.out);
    }
    return ended_;
}

std::string gpufs_binary() {
    const char* binary = std::getenv("GPUFS_BIN");
    return binary ? binary : "build/gpufs";
}

std::string work_binary() {
    const std::string binary = gpufs_binary();
    return binary.substr(0, binary.rfind('/') + 1) + "gpufs-work";
}

namespace {

Child::Setup setup_for(const std::vector<std::string>& args) {
    Child::Setup setup;
    setup.argv = {gpufs_binary()};
    setup.argv.insert(setup.argv.end(), args.begin(), args.end());
    return setup;
}

}  // namespace

Ended gpufs(const std::vector<std::string>& args) {
    return Child(setup_for(args)).wait();
}

Ended gpufs_as_nobody(const std::vector<std::string>& args) {
    Child::Setup setup = setup_for(args);
    setup.as_nobody = true;
    return Child(setup).wait();
}

Ended shell(const std::string& line, std::vector<std::string> wrapper) {
    for (const std::string& word : {std::string("sh"), std::string("-c"), line})
        wrapper.push_back(word);
    return Child({std::move(wrapper), {cat("GPUFS=", gpufs_binary())}, false, false, {}}).wait();
}

}  // namespace gpufs::test
