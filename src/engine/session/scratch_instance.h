#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "kernel/tracefs/tracefs.h"

namespace gpufs {

// A temporary tracefs instance, removed by the destructor. It is named gpufs.PID.STARTTIME, and one
// of its files stays open: rmdir(2) then distinguishes a living owner (EBUSY) from a dead one; a
// pid cannot (namespaces, reuse). If a living owner in another pid namespace has that name already,
// the name is gpufs.PID.STARTTIME.2, and so on.
class ScratchInstance {
public:
    // `suffix` distinguishes two instances of one process: gpufs.PID.STARTTIME.SUFFIX. Letters and
    // digits.
    explicit ScratchInstance(const Tracefs& top, std::string_view suffix = {});
    ~ScratchInstance();
    ScratchInstance(const ScratchInstance&) = delete;
    ScratchInstance& operator=(const ScratchInstance&) = delete;

    const Tracefs& tracefs() const noexcept { return here_; }
    const Tracefs& top() const noexcept { return top_; }
    // The group for dynamic probes of this owner, and the name for a synthetic event.
    std::string probe_group() const;

private:
    bool make();

    Tracefs top_, here_;
    Fd held_;
};

}  // namespace gpufs
