#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace gpufs::test {

// How a process ended and what it said.
struct Ended {
    int status = -1;  // exit status; -1 when a signal ended it
    int signal = 0;
    std::string out, err;
};

// Is the piece somewhere in the text?
inline bool has(const std::string& text, const std::string& piece) {
    return text.find(piece) != std::string::npos;
}

// A child process with its output collected. The destructor kills and reaps it.
class Child {
public:
    // argv[0] is the program. `environment` entries "NAME=VALUE" are added to ours. `as_nobody`
    // gives up root first.
    struct Setup {
        std::vector<std::string> argv;
        std::vector<std::string> environment;
        bool as_nobody = false;
        bool close_stdout_early = false;  // the reading end of its stdout is closed at once
        std::string stdout_file;          // instead of a pipe
    };
    explicit Child(const Setup& setup);
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    int pid() const { return pid_; }
    void send(int signal) const;
    // Reads on until stdout holds the text; false when it ended or the time is up.
    bool wait_for_output(const std::string& text, std::chrono::milliseconds limit);
    // The same for stderr.
    bool wait_for_error(const std::string& text, std::chrono::milliseconds limit);
    // Reads to the end and reaps. What gpufs printed with --json must be what gpufs-json(5) says.
    Ended wait();

private:
    bool read_some(int timeout_ms);
    bool wait_for(const std::string& stream, const std::string& text,
                  std::chrono::milliseconds limit);

    std::vector<std::string> argv_;
    int pid_ = -1;
    int out_ = -1, err_ = -1;
    Ended ended_;
};

// The binary under test: $GPUFS_BIN, or build/gpufs.
std::string gpufs_binary();

// The program whose work is known (tests/programs): gpufs-work beside the binary.
std::string work_binary();

// Runs it with these arguments, to the end.
Ended gpufs(const std::vector<std::string>& args);
Ended gpufs_as_nobody(const std::vector<std::string>& args);

// Runs a line of the shell, in which $GPUFS is the binary. `wrapper`: a program with its arguments
// that runs the shell.
Ended shell(const std::string& line, std::vector<std::string> wrapper = {});

}  // namespace gpufs::test
