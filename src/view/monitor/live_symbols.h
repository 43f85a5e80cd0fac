#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/results/running_program.h"
#include "engine/symbols/symbols.h"
#include "view/monitor/value_text.h"

namespace gpufs {

// Names for the addresses in a running monitor's maps and records. Follows processes only if the
// monitor has user addresses; reads the kernel's names when the first address is shown.
class LiveSymbols {
public:
    // `has_user`: the monitor has user addresses that its layouts do not tell of.
    LiveSymbols(const RunningProgram& running, CodeFile::Lines lines, bool has_user = false);

    // Begins to follow processes with the side-band, for user addresses or a visitor, and reads the
    // mappings of running ones (`pid`: only of this one; 0: of all), so that they have names after
    // their exit. `visit`: Symbols::watch().
    void watch(std::uint32_t pid, Symbols::Visit visit = {});
    // Empty while watch() sees what processes do.
    const std::string& why_not_watched() const { return why_not_watched_; }
    // For poll(2): call drain() when one is readable.
    std::vector<int> fds() const { return symbols_.fds(); }
    void drain() { symbols_.drain(); }
    Symbols& symbols() { return symbols_; }

    // Whether stacks begin with the functions of the probe itself, or where it is.
    enum class ProbeFrames { left_out, shown };
    // Valid as long as this object.
    ValueNames names(ProbeFrames frames = ProbeFrames::left_out);
    // Sentences about missing names and the reasons; to be printed at the end.
    std::vector<std::string> notes();

private:
    Symbols symbols_;
    bool names_kernel_ = false;  // it was asked for a name of the kernel's
    bool has_user_ = false;
    std::string why_not_watched_;
};

}  // namespace gpufs
