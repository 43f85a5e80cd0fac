#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "engine/trace/by_event_id.h"
#include "engine/trace/context.h"
#include "lang/event/open_events.h"
#include "lang/trace_dat/record_merge.h"
#include "view/trace/ftrace_event.h"

namespace gpufs {

// Counts from where events happened: the records that have a stack, of the kernel, of the program,
// or both. Memory: for each stack that differs.
class StackProfile {
public:
    struct Frame {
        std::uint64_t address = 0;
        bool is_user = false;
        std::string name;  // the function; in hexadecimal where it is not known
    };
    struct Sample {
        std::string event, comm;
        int tid = 0;
        std::vector<std::uint32_t> frames;  // indices of frames(), the outermost first
        friend auto operator<=>(const Sample&, const Sample&) = default;
    };

    // Keeps a reference to the context.
    explicit StackProfile(TraceContext& context) : context_(context) {}

    // Records must come in order of time.
    void add(const TraceRecord& record);
    // Counts what is still without the rest of its stacks.
    void finish();

    const std::vector<Frame>& frames() const { return frames_; }
    const std::map<Sample, std::uint64_t>& counts() const { return counts_; }
    // How many stacks belong to none of the records.
    std::uint64_t stray() const { return stray_; }
    std::uint64_t first_time() const { return first_; }
    std::uint64_t last_time() const { return last_; }

private:
    // An event whose stacks may follow.
    struct Pending {
        int id = -1, tid = 0;
        std::string_view comm;              // at the event
        std::vector<std::uint64_t> kernel;  // addresses, innermost first
        std::vector<std::uint32_t> user;    // indices of frames_, innermost first
    };
    void count(const Pending& pending);
    std::uint32_t kernel_frame(std::uint64_t address, FramePlace place);
    std::uint32_t user_frame(int process, std::uint64_t address, FramePlace place);

    TraceContext& context_;
    ByEventId<FtraceEvent> kinds_;
    std::vector<OpenEvents<Pending>> pending_;  // by stream
    std::vector<Frame> frames_;
    // By address: of innermost frames, and of outer ones.
    std::unordered_map<std::uint64_t, std::uint32_t> innermost_, outer_;
    // By process, 0 where its functions are not known, address and name: another program may have
    // another function there.
    std::map<std::tuple<int, std::uint64_t, std::string>, std::uint32_t> user_frames_;
    std::map<Sample, std::uint64_t> counts_;
    std::uint64_t stray_ = 0, first_ = 0, last_ = 0;
};

}  // namespace gpufs
