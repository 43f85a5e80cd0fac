#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gpufs/program.h"
#include "gpufs/results.h"

namespace gpufs::api {

// A program at work over a recording: gpufs interprets it for each event, as the kernel would have
// run it. Nothing of this machine is asked.
class Replay {
public:
    // Throws what Program::link() and Recording's constructor throw.
    Replay(const Program& program, const std::string& path);
    Replay(Replay&&) noexcept;
    Replay& operator=(Replay&&) noexcept;
    ~Replay();

    // Goes through the whole recording. Throws SysError, and UsageError under the line of a program
    // that does what the verifier would have refused.
    void run(const OnRecord& on_record = {});

    // As Monitor has them.
    std::vector<Row> rows(const std::string& map) const;
    std::vector<Loss> losses() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace gpufs::api
