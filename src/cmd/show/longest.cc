#include "cmd/show/longest.h"

#include <algorithm>

#include "base/cat.h"
#include "engine/trace/buffer_snapshot.h"
#include "engine/trace/live_trace.h"
#include "engine/trace/raw_buffer.h"
#include "view/duration.h"
#include "view/json.h"
#include "view/trace/json.h"
#include "view/trace/kernel_text.h"

namespace gpufs {
namespace {

// "The longest of 80 irq:softirq_entry to irq:softirq_exit; 1 without the other half:", or "No
// irq:softirq_entry to irq:softirq_exit".
std::string title_of(const RecordPairs& pairs) {
    const auto& [begin, end, keys, most] = pairs.wanted();
    std::string title = pairs.count() == 0 ? "No " : cat("The longest of ", pairs.count(), " ");
    title += cat(begin, " to ", end);
    if (pairs.unpaired() > 0) title += cat("; ", pairs.unpaired(), " without the other half");
    return pairs.count() == 0 ? title : title + ':';
}

void print_pairs(Context& ctx, const RecordPairs& pairs, TraceContext& trace, bool json) {
    KernelText text(trace);
    TraceJson as_json(trace);
    if (!json) ctx.out.line(title_of(pairs));
    for (const RecordPairs::Pair& pair : pairs.longest()) {
        TraceRecord begin = pair.begin;
        begin.bytes = pair.bytes;
        begin.lost_before = {};
        std::string line;
        if (json) {
            as_json.print(begin, line);
            line.pop_back();
            ctx.out.line(JsonObject().number("took_ns", pair.took_ns).raw("from", line).done());
        } else {
            text.print(begin, line);
            const std::string took = duration_text(pair.took_ns);
            ctx.out.write(cat(std::string(12 - std::min<std::size_t>(12, took.size()), ' '), took,
                              "  ", line));
        }
    }
}

}  // namespace

void print_longest(Context& ctx, const Session& session,
                   const std::vector<RecordPairs::Wanted>& wanted, const ShowForm& form) {
    LiveTrace trace(session.top(), session.tracefs());
    trace.context().controls = form.controls;
    trace.context().options.mark_cpu_starts = false;  // they are out of order
    std::vector<RecordPairs> pairs;
    pairs.reserve(wanted.size());
    for (const RecordPairs::Wanted& one : wanted) pairs.emplace_back(trace.context().events, one);
    const auto read = [&](auto& source) {
        while (const TraceRecord* record = source.next())
            for (RecordPairs& one : pairs) one.add(*record);
        tell_damage(ctx, source.damage());
    };
    if (auto snapshot = BufferSnapshot::open(session.tracefs())) {
        read(*snapshot);
    } else {
        RawBuffer buffer(session.tracefs());
        buffer.drain_rest();
        read(buffer);
    }
    for (const RecordPairs& one : pairs) {
        if (!form.json && &one != &pairs.front()) ctx.out.line("");
        print_pairs(ctx, one, trace.context(), form.json);
    }
}

}  // namespace gpufs
