#pragma once

#include <cstdint>
#include <map>

#include "engine/stall/stall.h"
#include "engine/stall/syscall_text.h"
#include "engine/trace/context.h"
#include "view/export/lanes.h"
#include "view/export/timeline.h"

namespace gpufs {

// Makes a timeline of stalls, for a writer in which a track may be named anew: a slice each, on the
// track of its task, named by where it was, its category the letter of its state.
class StallTimeline {
public:
    // Keeps references. What began before `begin_ns` is drawn from there on.
    StallTimeline(TimelineWriter& writer, TraceContext& context, SyscallText& syscalls,
                  std::uint64_t begin_ns);

    // In the order of their ends.
    void add(const Stall& stall);

private:
    std::uint32_t track_of(const Stall& stall);

    TimelineWriter& writer_;
    TraceContext& context_;
    SyscallText& syscalls_;
    Tracks tracks_;
    std::map<int, Track> tasks_;  // by thread
    std::uint64_t begin_ns_;
};

}  // namespace gpufs
