#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "gpufs/program.h"
#include "gpufs/results.h"

namespace gpufs::api {

// A program at work in the running kernel. Nothing of it stays behind when it is destroyed, nor
// when the process is killed. For one thread.
class Monitor {
public:
    // Makes the maps, links and loads; nothing runs yet. Throws UsageError for mistakes of the
    // text, UnsupportedError for what this kernel or this user cannot do, Error with the verifier's
    // words as evidence().
    explicit Monitor(const Program& program);
    Monitor(Monitor&&) noexcept;
    Monitor& operator=(Monitor&&) noexcept;
    ~Monitor();

    // Attaches all probes, or none. Throws SysError, UnsupportedError.
    void start();
    // Waits until programs sent records, at most so long, and hands them over.
    void poll(std::chrono::milliseconds longest, const OnRecord& on_record = {});
    // poll() again and again, for this long.
    void run_for(std::chrono::milliseconds duration, const OnRecord& on_record = {});
    // Runs the program's `end` programs and takes the probes off. Results can still be read.
    void stop();

    // A map's entries, most first as its report says. Throws UsageError when the program reports
    // no such map.
    std::vector<Row> rows(const std::string& map) const;
    // All that is known to be missing in the results; empty: nothing is.
    std::vector<Loss> losses() const;
    // A line a probe: where it was attached, and how.
    std::vector<std::string> explanation() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace gpufs::api
