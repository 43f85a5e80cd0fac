#include "cmd/show.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/run_loop.h"
#include "cmd/shared/screen.h"
#include "cmd/shared/session_choice.h"
#include "engine/recording/wanted_records.h"
#include "engine/session/hists.h"
#include "engine/trace/buffer_snapshot.h"
#include "engine/trace/live_trace.h"
#include "engine/trace/raw_buffer.h"
#include "view/duration.h"
#include "view/json.h"
#include "view/losses.h"
#include "view/trace/hist_text.h"
#include "view/trace/json.h"
#include "view/trace/kernel_records.h"
#include "view/trace/kernel_text.h"

namespace gpufs {
namespace {

struct ShowOptions {
    std::vector<std::string> events;
    std::optional<Expression> condition;
    std::optional<unsigned long> last;
    std::optional<std::chrono::nanoseconds> duration;
    ShowForm form;
    bool follow = false, consume = false, snapshot = false, hist = false, strict = false;

    // Whether records must be looked into, which the kernel's own text does not allow.
    bool needs_fields() const { return form.json || condition || !events.empty(); }
};

RecordChoice choice_of(const ShowOptions& choices) {
    RecordChoice choice;
    choice.events = choices.events;
    choice.condition = choices.condition;
    return choice;
}

// Turns the wanted records into lines, in the form that the user asked for.
class Printer {
public:
    Printer(const Session& session, const ShowOptions& choices)
        : trace_(session.top(), session.tracefs()),
          text_(trace_.context()),
          json_(trace_.context()),
          wanted_(trace_.context(), choice_of(choices)),
          is_json_(choices.form.json) {
        trace_.context().controls = choices.form.controls;
    }

    // Makes `lines` those of the next wanted record. Null when the source has none now.
    template <class Source>
    const TraceRecord* next(Source& source, std::string& lines) {
        const TraceRecord* const record = wanted_.next(source);
        lines.clear();
        if (record && is_json_)
            json_.print(*record, lines);
        else if (record)
            text_.print(*record, lines);
        return record;
    }
    // A stack belongs to the event before it and is not counted as one.
    bool is_stack(const TraceRecord& record) { return wanted_.is_stack(record.id()); }
    void refresh_names() { trace_.context().tasks.refresh(); }

private:
    LiveTrace trace_;
    KernelText text_;
    TraceJson json_;
    WantedRecords wanted_;
    bool is_json_;
};

// The last N events, each with the stacks behind it.
class LastLines {
public:
    explicit LastLines(std::size_t most) : most_(most) {}
    void add(std::string lines, bool starts_event) {
        if (starts_event) ++events_;
        held_.push_back({std::move(lines), starts_event});
        while (events_ > most_) {
            if (held_.front().second) --events_;
            held_.pop_front();
            while (!held_.empty() && !held_.front().second) held_.pop_front();
        }
    }
    void print(Output& out) const {
        for (const auto& [lines, starts] : held_) out.write(lines);
    }

private:
    std::size_t most_;
    std::size_t events_ = 0;
    std::deque<std::pair<std::string, bool>> held_;
};

// Prints what `next` gives, all of it or the last N events. Returns how many events it gave.
template <class Source>
std::size_t print_records(Context& ctx, Source& source, Printer& printer,
                          std::optional<unsigned long> last) {
    std::optional<LastLines> tail;
    if (last) tail.emplace(*last);
    std::string lines;
    std::size_t events = 0;
    while (const TraceRecord* record = printer.next(source, lines)) {
        const bool is_event = !printer.is_stack(*record);
        events += is_event;
        if (tail)
            tail->add(lines, is_event);
        else
            ctx.out.write(lines);
    }
    if (tail) tail->print(ctx.out);
    return events;
}

void say_damage(Context& ctx, const std::vector<std::string>& damage) {
    for (const std::string& what : damage) ctx.err.line(cat("gpufs: damaged page: ", what));
}

// The kernel's own text: `trace`, or `snapshot`.
void copy_text(Context& ctx, const Tracefs& at, const char* file, const ShowOptions& choices) {
    const Fd fd = open_file(at.path(file), O_RDONLY);
    std::optional<LastLines> tail;
    if (choices.last) tail.emplace(*choices.last);
    std::string text, lines;
    const auto print_records_of = [&](bool is_all) {
        std::string_view rest = text;
        while (const std::size_t length = first_record_length(rest, is_all)) {
            const std::string_view record = rest.substr(0, length);
            rest.remove_prefix(length);
            lines.clear();
            append_record(lines, record, choices.form.controls);
            if (!tail)
                ctx.out.write(lines);
            else if (!record.starts_with('#'))
                tail->add(lines, !is_stack_record(record));
        }
        text.erase(0, text.size() - rest.size());
    };
    std::string chunk(1 << 16, '\0');
    for (;;) {
        const ssize_t n = check(::read(fd.get(), chunk.data(), chunk.size()),
                                [&] { return cat("read '", at.path(file), "'"); });
        text.append(chunk, 0, static_cast<std::size_t>(n));
        print_records_of(n == 0);
        if (n == 0) break;
    }
    if (tail) tail->print(ctx.out);
}

void show_once(Context& ctx, const Session& session, const ShowOptions& choices) {
    const Tracefs& at = session.tracefs();
    if (!choices.needs_fields()) return copy_text(ctx, at, "trace", choices);
    Printer printer(session, choices);  // complains about the expression first
    auto snapshot = BufferSnapshot::open(at);
    if (!snapshot)
        throw UnsupportedError(
            "the fields of these records can be had only by taking them out of the buffer: it "
            "takes "
            "Linux 6.10 and no snapshot trigger to leave them in",
            "add --consume, or --follow for what comes; plain 'gpufs show' leaves them in");
    print_records(ctx, *snapshot, printer, choices.last);
    say_damage(ctx, snapshot->damage());
    if (const auto overrun = snapshot->overrun(); overrun > 0)
        ctx.err.line(cat(counted(overrun, "older event"), " overwritten in the buffer"));
}

// What was read, and what is missing of it: a line on `err`, or a last object of JSON.
void print_end(Context& ctx, const ShowOptions& choices, std::size_t shown, std::string_view what,
               const LossLedger& losses) {
    if (choices.form.json) {
        ctx.out.line(records_summary_json(shown, losses));
    } else {
        ctx.err.line(cat(what, losses_text(losses)));
    }
    ctx.out.flush();
    ctx.err.flush();
}

int consume(Context& ctx, const Session& session, const ShowOptions& choices) {
    Printer printer(session, choices);
    RawBuffer buffer(session.tracefs());
    buffer.drain_rest();
    const std::size_t events = print_records(ctx, buffer, printer, choices.last);
    say_damage(ctx, buffer.damage());
    const LossLedger losses = buffer.losses();
    print_end(ctx, choices, events, "read and removed; ", losses);
    return status_of(choices.strict, losses);
}

int show_live(Context& ctx, const Session& session, const ShowOptions& choices) {
    Printer printer(session, choices);
    RunLoop loop(choices.duration);
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
    say_damage(ctx, buffer.damage());
    const LossLedger losses = buffer.losses();
    print_end(ctx, choices, shown, cat(counted(shown, "event"), ", "), losses);
    return loop.exit_status(status_of(choices.strict, losses));
}

int show_hists(Context& ctx, const Session& session, const ShowOptions& choices) {
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
        say_damage(ctx, source.damage());
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

void print_buffer(Context& ctx, const Session& session, std::optional<unsigned long> last,
                  const ShowForm& form) {
    ShowOptions choices;
    choices.last = last;
    choices.form = form;
    if (form.json && !BufferSnapshot::open(session.tracefs()))
        consume(ctx, session, choices);
    else
        show_once(ctx, session, choices);
}

int cmd_show(Context& ctx, Args args) {
    std::vector<std::string> words;
    SessionChoice session_choice;
    ShowOptions choices;
    Options options(
        "show [--follow | --consume | --snapshot | --hist] [--last N] [-e EVENT…] [--if EXPR] "
        "[--strict] "
        "[--json]",
        "Shows what the session recorded, in the kernel's own trace form. Plain show leaves the\n"
        "records in the buffer; --consume and --follow take them out of it.");
    options.flag("follow,f", choices.follow, "live, until Ctrl-C; consumes what it shows")
        .flag("consume", choices.consume, "show and remove from the buffer")
        .flag("snapshot", choices.snapshot, "the copy that a snapshot trigger keeps")
        .flag("hist", choices.hist, "what hist triggers have counted")
        .count("last", choices.last, "only the last N events")
        .time("duration,d", choices.duration, "end --follow after this time (30s, 5m)")
        .events(choices.events)
        .condition(choices.condition)
        .output()
        .strict(choices.strict)
        .json(choices.form.json)
        .raw(choices.form.controls)
        .session(session_choice);
    if (!options.parse(ctx, args, words)) return kOk;
    check_words(words, 0);
    if (choices.follow + choices.consume + choices.snapshot + choices.hist > 1)
        throw UsageError("--follow, --consume, --snapshot and --hist exclude each other");
    if (choices.hist && (choices.last || choices.condition))
        throw UsageError("--hist shows what is counted: --last and --if do not go with it",
                         "a condition goes with the trigger: gpufs trigger hist … --if EXPR");
    if (choices.follow && choices.last) throw UsageError("--last does not go with --follow");
    if (choices.duration && !choices.follow) throw UsageError("--duration goes with --follow");
    if (choices.strict && !choices.follow && !choices.consume && !choices.hist)
        throw UsageError("--strict goes with --follow, --consume and --hist",
                         "what stays in the buffer can be read again");
    if (choices.snapshot && choices.needs_fields())
        throw UsageError(
            "--snapshot shows the kernel's text: -e, --if and --json do not go with it");
    const Session session = require_session(session_choice);
    if (choices.hist) return show_hists(ctx, session, choices);
    if (choices.follow) return show_live(ctx, session, choices);
    if (choices.consume) return consume(ctx, session, choices);
    if (choices.snapshot) {
        if (!session.tracefs().has("snapshot"))
            throw UnsupportedError("this kernel has no snapshots",
                                   "it was built without CONFIG_TRACER_SNAPSHOT");
        copy_text(ctx, session.tracefs(), "snapshot", choices);
    } else {
        show_once(ctx, session, choices);
    }
    return kOk;
}

}  // namespace gpufs
