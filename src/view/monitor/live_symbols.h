#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/results/running_program.h"
#include "engine/symbols/symbols.h"
#include "view/monitor/value_text.h"

namespace gpufs {

// What the addresses mean that a monitor counts and sends. Processes are followed only where the
// monitor has something of theirs.
class LiveSymbols {
public:
    LiveSymbols(const RunningProgram& running, CodeFile::Lines lines);

    // From now on: looks at the processes that run (`pid`: at this one; 0: at all), so that they
    // have names when they are gone, and listens for those that come.
    void watch(std::uint32_t pid);
    // What to poll for, so that drain() is called in time.
    std::vector<int> fds() const { return symbols_.fds(); }
    void drain() { symbols_.drain(); }

    // Good as long as this.
    ValueNames names();
    // Sentences on what has no names, and why; for the end.
    std::vector<std::string> notes();

private:
    Symbols symbols_;
    bool has_kernel_ = false, has_user_ = false;
    std::string why_not_watched_;
};

}  // namespace gpufs
