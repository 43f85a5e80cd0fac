#include "cmd/record/perfetto.h"

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "engine/recording/file.h"
#include "engine/recording/live_recording.h"
#include "view/export/perfetto.h"
#include "view/export/record_timeline.h"
#include "view/losses.h"

namespace gpufs {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLongestWait{200};
constexpr std::chrono::seconds kFlushPerfettoEach{1};

}  // namespace

LossLedger record_perfetto(Context& ctx, RunLoop& loop, RecordSession& session, Output& out) {
    auto owned = std::make_unique<LiveRecording>(session.top(), session.tracefs());
    LiveRecording& buffer = *owned;
    TraceFile source(std::move(owned));
    PerfettoWriter writer([&out](std::string_view bytes) { out.write(bytes); });
    RecordTimeline timeline(source, writer);
    std::size_t records = 0;
    const auto take = [&] {
        for (; const TraceRecord* record = source.next(); ++records) timeline.add(*record);
    };
    session.start();
    loop.begin();
    auto flush_at = SteadyClock::now() + kFlushPerfettoEach;
    bool is_off = false;
    while (!loop.is_over() && !is_off) {
        buffer.wait(loop.wake_fd(), std::min(loop.left(), kLongestWait));
        is_off = session.ends_when_off() && !session.is_on();
        if (buffer.drain()) take();
        if (SteadyClock::now() < flush_at) continue;
        writer.flush();
        out.flush();
        flush_at = SteadyClock::now() + kFlushPerfettoEach;
    }
    session.stop();
    buffer.drain_rest();
    take();
    writer.finish();
    out.flush();
    for (const std::string& what : source.damage())
        ctx.err.line(cat("gpufs: damaged page: ", what));
    for (const std::string& note : timeline.notes()) ctx.err.line(note);
    if (is_off) ctx.err.line("a trigger stopped the buffer");
    LossLedger losses = buffer.losses();
    ctx.err.line(cat(counted(records, "record"), ", ", losses_text(losses)));
    return losses;
}

}  // namespace gpufs
