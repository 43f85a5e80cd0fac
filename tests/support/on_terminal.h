#pragma once

#include <poll.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "support/run_gpufs.h"

namespace gpufs::test {

// gpufs on a terminal of its own.
class OnTerminal {
public:
    // `environment` is added to ours: "NAME=VALUE".
    OnTerminal(const std::vector<std::string>& args, unsigned short columns, unsigned short rows,
               const std::vector<std::string>& environment = {"LC_ALL=C"}) {
        const winsize size{rows, columns, 0, 0};
        int terminal = -1;
        pid_ = ::forkpty(&terminal, nullptr, nullptr, &size);
        if (pid_ == 0) {
            std::vector<std::string> words = args;
            words.insert(words.begin(), gpufs_binary());
            for (const std::string& one : environment)
                ::setenv(one.substr(0, one.find('=')).c_str(),
                         one.substr(one.find('=') + 1).c_str(), 1);
            std::vector<char*> argv;
            for (std::string& word : words) argv.push_back(word.data());
            argv.push_back(nullptr);
            ::execv(argv[0], argv.data());
            ::_exit(127);
        }
        terminal_ = Fd(terminal);
    }
    ~OnTerminal() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
        }
    }
    OnTerminal(const OnTerminal&) = delete;
    OnTerminal& operator=(const OnTerminal&) = delete;

    void press(std::string_view keys) const {
        BOOST_TEST_REQUIRE(::write(terminal_.get(), keys.data(), keys.size()) ==
                           static_cast<ssize_t>(keys.size()));
    }
    // Reads on until the text has come; what came behind the last time it was waited for.
    std::string wait_for(std::string_view text) {
        std::string seen;
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!has(seen, std::string(text)) && std::chrono::steady_clock::now() < end)
            if (!read_some(seen)) break;
        BOOST_TEST(has(seen, std::string(text)));
        return seen;
    }
    // To the end: its exit status, and what came.
    std::pair<int, std::string> wait() {
        std::string seen;
        while (read_some(seen)) {
        }
        int status = 0;
        ::waitpid(pid_, &status, 0);
        pid_ = -1;
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, seen};
    }

private:
    bool read_some(std::string& seen) const {
        pollfd ready{terminal_.get(), POLLIN, 0};
        if (::poll(&ready, 1, 1000) == 0) return true;
        char bytes[4096];
        const ssize_t count = ::read(terminal_.get(), bytes, sizeof bytes);
        if (count > 0) seen.append(bytes, static_cast<std::size_t>(count));
        return count > 0;
    }

    pid_t pid_ = -1;
    Fd terminal_;
};

}  // namespace gpufs::test
