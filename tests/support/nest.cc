#include "support/nest.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "base/path.h"

namespace gpufs::test {

std::string Nest::build_file(const std::string& name) {
    const std::string path = link_target("/proc/self/exe");
    return path.substr(0, path.rfind('/') + 1) + name;
}

Nest::Nest(std::vector<std::string> argv) {
    int in[2], out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0)
        throw std::runtime_error("pipe failed");
    pid_ = ::fork();
    if (pid_ == -1) throw std::runtime_error("fork failed");
    if (pid_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::dup2(in[0], 0);
        ::dup2(out[1], 1);
        std::vector<char*> words;
        for (std::string& word : argv) words.push_back(word.data());
        words.push_back(nullptr);
        ::execvp(words[0], words.data());
        ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    to_ = ::fdopen(in[1], "w");
    from_ = ::fdopen(out[0], "r");
}

Nest::~Nest() {
    end();
    std::fclose(to_);
    std::fclose(from_);
}

void Nest::end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

void Nest::tell(const std::string& line) {
    if (std::fprintf(to_, "%s\n", line.c_str()) < 0 || std::fflush(to_) != 0)
        throw std::runtime_error("nest does not listen");
}

std::string Nest::ask(const std::string& line) {
    tell(line);
    return hear();
}

std::string Nest::hear() {
    char answer[4096];
    if (!std::fgets(answer, sizeof answer, from_)) throw std::runtime_error("nest does not answer");
    std::string text = answer;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

std::uint64_t Nest::address(const std::string& line) {
    return std::stoull(ask(line), nullptr, 16);
}

}  // namespace gpufs::test
