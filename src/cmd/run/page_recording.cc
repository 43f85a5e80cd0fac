#include "cmd/run/page_recording.h"

#include <fcntl.h>

#include <algorithm>
#include <limits>

#include "base/cat.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/unnamed_file.h"
#include "engine/recorder/kernel_header.h"
#include "kernel/tracefs/tracefs.h"

namespace gpufs {
namespace {

constexpr std::uint64_t kNoSizeLimit = std::numeric_limits<std::uint64_t>::max();

// Without a GPU, fences and tasks are of interest still.
RecordRequest page_request(const Tracefs& top) {
    RecordRequest request;
    request.settings = {{"clock", "mono"}, {"buffer", "4M"}};
    try {
        request.events = gpu_timeline_events(top);
    } catch (const UnsupportedError&) {
        for (const char* event : {"sched:sched_switch", "sched:sched_waking"})
            if (std::ranges::count(top.events(), event) != 0) request.events.emplace_back(event);
    }
    return request;
}

Fd duplicate(const Fd& fd) {
    return Fd{check(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0),
                    [] { return std::string("keep a temporary file"); })};
}

}  // namespace

PageRecording::PageRecording() : PageRecording(open_unnamed_file()) {}

PageRecording::PageRecording(Fd file)
    : kept_(duplicate(file)),
      path_(cat("/proc/self/fd/", kept_.get())),
      session_(find_tracefs(), page_request(find_tracefs())),
      recorder_(session_.tracefs(), session_.top()),
      file_(std::move(file), "a temporary file") {
    recorder_.begin(file_,
                    read_trace_head(session_.tracefs(), session_.top(), session_.events(), false),
                    kNoSizeLimit);
    session_.start();
}

void PageRecording::take() {
    constexpr std::uint64_t kEach = 40'000'000;
    const std::uint64_t now_ns = monotonic_ns();
    if (now_ns - taken_ns_ < kEach) return;
    taken_ns_ = now_ns;
    if (is_cut_) return;
    write([this] { return recorder_.move(file_, kNoSizeLimit); });
    if (is_cut_) session_.stop();
}

void PageRecording::write(const std::function<bool()>& step) {
    try {
        if (!step()) is_cut_ = true;
    } catch (const SysError& e) {
        if (!is_full_disk(e.code())) throw;
        is_cut_ = true;
    }
}

Fd PageRecording::finish() {
    if (!is_cut_) {
        session_.stop();
        write([this] { return recorder_.move_rest(file_, kNoSizeLimit); });
    }
    write([this] { return recorder_.update(file_), true; });
    return std::move(kept_);
}

}  // namespace gpufs
