#include <chrono>

#include "base/error.h"
#include "base/text.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/run_loop.h"
#include "cmd/shared/screen.h"
#include "cmd/shared/session_choice.h"
#include "cmd/show/buffer.h"
#include "engine/session/hists.h"
#include "engine/trace/raw_buffer.h"
#include "view/losses.h"
#include "view/trace/hist_text.h"

namespace gpufs {
namespace {

int show_live(Context& ctx, const Session& session, const ShowChoices& choices,
              std::optional<std::chrono::nanoseconds> duration) {
    RecordPrinter printer(session, choices);
    RunLoop loop(duration);
    RawBuffer buffer(session.tracefs());
    std::size_t shown = 0;
    std::string lines;
    const auto print_ready = [&] {
        // Tasks that started since the last look have names now.
        printer.refresh_names();
        while (const TraceRecord* record = printer.next(buffer, lines)) {
            shown += !printer.is_stack(*record);
            ctx.out.write(lines);
        }
        ctx.out.flush();
    };
    loop.begin();
    while (!loop.is_over()) {
        buffer.wait(loop.wake_fd(), loop.left());
        if (buffer.drain() > 0) print_ready();
    }
    buffer.drain_rest();
    print_ready();
    tell_damage(ctx, buffer.damage());
    const LossLedger losses = buffer.losses();
    tell_end_of_buffer(ctx, choices, shown, cat(counted(shown, "event"), ", "), losses);
    return loop.exit_status(status_of(choices.strict, losses));
}

int show_hists(Context& ctx, const Session& session, const ShowChoices& choices) {
    const std::vector<EventHist> hists = read_hists(session, choices.events);
    if (hists.empty()) ctx.err.line(cat("gpufs: no hist trigger is set in ", session.described()));
    std::uint64_t dropped = 0;
    for (const EventHist& hist : hists) {
        dropped += hist.listing.dropped;
        if (choices.form.json) {
            ctx.out.line(hist_json(hist.event, hist.listing));
            continue;
        }
        if (&hist != &hists.front()) ctx.out.line("");
        ctx.out.write(
            hist_text(hist.event, hist.listing, choices.form.controls, screen_of(ctx.out.fd())));
    }
    return choices.strict && dropped > 0 ? kLostData : kOk;
}

}  // namespace

int cmd_show(Context& ctx, Args args) {
    std::vector<std::string> words;
    SessionChoice session_choice;
    ShowChoices choices;
    std::optional<std::chrono::nanoseconds> duration;
    bool follow = false, consume = false, snapshot = false, hist = false;
    Options options(
        "show [--follow | --consume | --snapshot | --hist] [--last N] [-e EVENT…] [--if EXPR] "
        "[--strict] "
        "[--json]",
        "Shows what the session recorded, in the kernel's own trace form. Plain show leaves the\n"
        "records in the buffer; --consume and --follow take them out of it.");
    options.flag("follow,f", follow, "live, until Ctrl-C; consumes what it shows")
        .flag("consume", consume, "show and remove from the buffer")
        .flag("snapshot", snapshot, "the copy that a snapshot trigger keeps")
        .flag("hist", hist, "what hist triggers have counted")
        .count("last", choices.last, "only the last N events")
        .time("duration,d", duration, "end --follow after this time (30s, 5m)")
        .events(choices.events)
        .condition(choices.condition)
        .output()
        .strict(choices.strict)
        .json(choices.form.json)
        .raw(choices.form.controls)
        .session(session_choice);
    if (!options.parse(ctx, args, words)) return kOk;
    check_words(words, 0);
    check_exclusive(
        {{"--follow", follow}, {"--consume", consume}, {"--snapshot", snapshot}, {"--hist", hist}});
    if (hist && choices.last) throw UsageError("--hist shows what is counted: not with --last");
    if (hist && choices.condition)
        throw UsageError("--hist shows what is counted: not with --if",
                         "a condition goes with the trigger: gpufs trigger hist … --if EXPR");
    if (follow && choices.last) throw UsageError("--last does not go with --follow");
    if (duration && !follow) throw UsageError("--duration goes with --follow");
    if (choices.strict && !follow && !consume && !hist)
        throw UsageError("--strict goes with --follow, --consume and --hist",
                         "what stays in the buffer can be read again");
    const char* const by_fields = first_given({{"-e", !choices.events.empty()},
                                               {"--if", choices.condition.has_value()},
                                               {"--json", choices.form.json}});
    if (snapshot && by_fields)
        throw UsageError(cat("--snapshot shows the kernel's text: not with ", by_fields));
    const Session session = require_session(session_choice);
    if (hist) return show_hists(ctx, session, choices);
    if (follow) return show_live(ctx, session, choices, duration);
    if (consume) return consume_buffer(ctx, session, choices);
    if (snapshot) {
        if (!session.tracefs().has("snapshot"))
            throw UnsupportedError("this kernel has no snapshots",
                                   "it was built without CONFIG_TRACER_SNAPSHOT");
        copy_text(ctx, session.tracefs(), "snapshot", choices);
    } else {
        print_buffer(ctx, session, choices);
    }
    return kOk;
}

}  // namespace gpufs
