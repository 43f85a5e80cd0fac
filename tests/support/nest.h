#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace gpufs::test {

// tests/programs/nest.cc at work, which answers a line for each line. Killed and reaped at the end.
class Nest {
public:
    // The program as `argv`; its file below build_file() by default.
    explicit Nest(std::vector<std::string> argv = {build_file("nest")});
    ~Nest();
    Nest(const Nest&) = delete;
    Nest& operator=(const Nest&) = delete;

    std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }
    std::string ask(const std::string& line);
    // The next line that it says.
    std::string hear();
    // Where the answer is an address.
    std::uint64_t address(const std::string& line);
    void tell(const std::string& line);
    // Kills and reaps it.
    void end();

    // What make puts next to this test program.
    static std::string build_file(const std::string& name);

private:
    int pid_ = -1;
    std::FILE* to_ = nullptr;
    std::FILE* from_ = nullptr;
};

}  // namespace gpufs::test
