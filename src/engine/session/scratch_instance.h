#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "kernel/tracefs/tracefs.h"

namespace gpufs {

// A temporary tracefs instance, removed by the destructor. It is named gpufs.PID.STARTTIME, and one
// of its files stays open: rmdir(2) then distinguishes a living owner (EBUSY) from a dead one; a
// pid cannot (namespaces, reuse). If a living owner in another pid namespace has that name already,
// the name is gpufs.PID.STARTTIME.2, and so on.
class ScratchInstance {
public:
    // `suffix` distinguishes two instances of one process: gpufs.PID.STARTTIME.SUFFIX.
    explicit ScratchInstance(const Tracefs& top, std::string_view suffix = {});
    ~ScratchInstance();
    ScratchInstance(const ScratchInstance&) = delete;
    ScratchInstance& operator=(const ScratchInstance&) = delete;

    const Tracefs& tracefs() const noexcept { return here_; }
    const Tracefs& top() const noexcept { return top_; }
    // The group for dynamic probes of this owner: gpufs_PID_STARTTIME, and _2 after it where the
    // instance has .2.
    const std::string& probe_group() const noexcept { return probe_group_; }

private:
    bool make();

    Tracefs top_, here_;
    std::string probe_group_;
    Fd held_;
};

// Removes what dead owners left behind: their instances, the dynamic probes of gpufs' groups whose
// instance is gone, and what they recorded into sessions (run_mark.h). Returns what was removed,
// one line each. Does not touch other instances that no ScratchInstance can have made, or of living
// owners. Does nothing without permission.
std::vector<std::string> remove_stale(const Tracefs& top);

}  // namespace gpufs
