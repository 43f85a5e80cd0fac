#pragma once

#include <cstdint>

namespace gpufs {

// Stops a child process twice while its program starts, by ptrace(2): behind its exec, where the
// program and its interpreter are mapped, and in front of the program's first instruction, where
// the libraries are that it is linked with. Whoever names its code or probes it has that time.
// What else would stop it in between lets it go at once. If this process is killed in between,
// which takes a dynamic linker's millisecond, the program dies of its breakpoint.
class ProgramStart {
public:
    // The child calls it in front of its exec; without effect where the kernel does not let it.
    static void ask() noexcept;

    explicit ProgramStart(int pid) : pid_(pid) {}

    // Takes a status of wait(2) that says that the child has stopped.
    void take(int status);
    // Whether it is stopped now, until go_on().
    bool is_stopped() const noexcept { return is_stopped_; }
    void go_on();

private:
    bool plant();
    void let_go(int signal);

    int pid_;
    bool is_stopped_ = false;
    std::uint64_t entry_ = 0;  // where the breakpoint is; 0: there is none
    long code_ = 0;            // what it has replaced
};

}  // namespace gpufs
