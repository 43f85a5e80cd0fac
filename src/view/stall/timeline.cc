#include "view/stall/timeline.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/cat.h"
#include "base/text.h"
#include "view/duration.h"
#include "view/stall/text.h"

namespace gpufs {

StallTimeline::StallTimeline(TimelineWriter& writer, TraceContext& context, SyscallText& syscalls,
                             std::uint64_t begin_ns)
    : writer_(writer),
      context_(context),
      syscalls_(syscalls),
      tracks_(writer),
      begin_ns_(begin_ns) {
    writer.start({"mono", {}}, begin_ns);
}

std::uint32_t StallTimeline::track_of(const Stall& stall) {
    const auto [known, is_new] = tasks_.try_emplace(stall.tid);
    Track& track = known->second;
    if (!is_new) {
        // A command is called as what starts it until it begins.
        if (track.name != stall.comm) {
            track.name = stall.comm;
            writer_.add_track(track);
        }
        return track.id;
    }
    track.kind = Track::Kind::task;
    track.tid = stall.tid;
    track.pid = stall.tgid == 0 ? stall.tid : stall.tgid;
    track.name = stall.comm;
    return track.id = tracks_.add(track);
}

void StallTimeline::add(const Stall& stall) {
    const std::uint64_t begin = std::max(stall.begin_ns, begin_ns_);
    if (stall.end_ns < begin) return;
    const std::string state(1, static_cast<char>(stall.state));
    const std::vector<std::string> functions = stack_functions(stall, context_.addresses);
    const std::vector<std::string> place = stack_in_short(functions, 1);
    const std::string call = StallText(context_, syscalls_).syscall(stall);
    const std::string stack = join(functions, "\n");
    std::string waker, ran;
    if (stall.waker)
        waker = stall.waker->from_interrupt ? "an interrupt"
                                            : task_text(stall.waker->comm, stall.waker->pid);
    for (const CpuUse& use : stall.ran_meanwhile)
        ran += cat(ran.empty() ? "" : ", ", task_text(use.comm, use.pid), " for ",
                   duration_text(use.ns));
    std::vector<Argument> arguments;
    const auto add = [&](std::string_view name, std::string_view text) {
        if (!text.empty()) arguments.push_back({name, Argument::Kind::text, 0, text});
    };
    add("state", state);
    add("system call", call);
    if (stall.file) add("file", stall.file->path);
    add("woken by", waker);
    add("ran meanwhile", ran);
    if (stall.begin_ns < begin_ns_ || stall.is_cut) add("began", "before gpufs looked");
    if (stall.is_ongoing) add("ended", "not yet");
    add("stack", stack);
    const std::uint32_t track = track_of(stall);
    writer_.begin(
        {track, begin, place.empty() ? std::string_view(call) : place.front(), state, arguments});
    writer_.end(track, stall.end_ns, {});
}

}  // namespace gpufs
