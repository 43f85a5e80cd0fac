#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/output.h"
#include "engine/recording/file.h"

namespace gpufs {

// A line about long work over a recording, for who waits for it: how much is done, how fast, and
// how long it takes still. There is one only where `err` is a terminal and the recording is larger
// than 100 MB. The destructor removes it.
class Progress {
public:
    // Keeps a reference to the file.
    Progress(const Output& err, const TraceFile& file);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // One more record is done.
    void step() {
        if (++records_ % kLookEvery == 0 && is_shown_) look();
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::uint64_t kLookEvery = 16384;
    void look();

    Output line_;
    const TraceFile& file_;
    bool is_shown_ = false;
    std::uint64_t records_ = 0;
    Clock::time_point begun_, shown_;
};

// "42 %, 3.1 M events/s, 12 s left", of work that has taken this long.
std::string progress_text(const TraceFile::Progress& progress, std::uint64_t records,
                          std::chrono::duration<double> taken);

}  // namespace gpufs
