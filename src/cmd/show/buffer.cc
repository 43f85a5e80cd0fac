#include "cmd/show/buffer.h"

#include <fcntl.h>
#include <unistd.h>

#include <deque>

#include "base/error.h"
#include "base/file.h"
#include "base/scan.h"
#include "base/text.h"
#include "engine/symbols/number_names.h"
#include "engine/trace/buffer_snapshot.h"
#include "engine/trace/raw_buffer.h"
#include "view/losses.h"
#include "view/trace/kernel_records.h"

namespace gpufs {
namespace {

RecordChoice choice_of(const ShowChoices& choices) {
    RecordChoice choice;
    choice.events = choices.events;
    choice.condition = choices.condition;
    return choice;
}

// See ShowForm::names_errors. `lines` are those of one record.
void name_error(std::string& lines) {
    constexpr std::string_view kReturns = " -> 0x";
    const std::size_t at = lines.find(kReturns), end = lines.find('\n');
    if (at >= end || lines.rfind(" sys_", at) == std::string::npos) return;
    const std::size_t digits = at + kReturns.size();
    const auto value = static_cast<std::int64_t>(
        whole_number<std::uint64_t>(std::string_view(lines).substr(digits, end - digits), 16)
            .value_or(0));
    if (is_error_result(value)) lines.insert(end, cat(" ", errno_text(value)));
}

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
std::size_t print_records(Context& ctx, Source& source, RecordPrinter& printer,
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

}  // namespace

RecordPrinter::RecordPrinter(const Session& session, const ShowChoices& choices)
    : trace_(session.top(), session.tracefs()),
      text_(trace_.context()),
      json_(trace_.context()),
      wanted_(trace_.context(), choice_of(choices)),
      is_json_(choices.form.json) {
    trace_.context().controls = choices.form.controls;
}

void tell_damage(Context& ctx, const std::vector<std::string>& damage) {
    for (const std::string& what : damage) ctx.err.line(cat("gpufs: damaged page: ", what));
}

void copy_text(Context& ctx, const Tracefs& at, const char* file, const ShowChoices& choices) {
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
            if (choices.form.names_errors) name_error(lines);
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

void print_buffer(Context& ctx, const Session& session, const ShowChoices& choices) {
    const Tracefs& at = session.tracefs();
    if (!choices.needs_fields()) return copy_text(ctx, at, "trace", choices);
    RecordPrinter printer(session, choices);  // complains about the expression first
    auto snapshot = BufferSnapshot::open(at);
    if (!snapshot)
        throw UnsupportedError(
            "the fields of these records can be had only by taking them out of the buffer: it "
            "takes "
            "Linux 6.10 and no snapshot trigger to leave them in",
            "add --consume, or --follow for what comes; plain 'gpufs show' leaves them in");
    print_records(ctx, *snapshot, printer, choices.last);
    tell_damage(ctx, snapshot->damage());
    if (const auto overrun = snapshot->overrun(); overrun > 0)
        ctx.err.line(cat(counted(overrun, "older event"), " overwritten in the buffer"));
}

void tell_end_of_buffer(Context& ctx, const ShowChoices& choices, std::size_t shown,
                        std::string_view what, const LossLedger& losses) {
    if (choices.form.json) {
        ctx.out.line(records_summary_json(shown, losses));
    } else {
        ctx.err.line(cat(what, losses_text(losses)));
    }
    ctx.out.flush();
    ctx.err.flush();
}

int consume_buffer(Context& ctx, const Session& session, const ShowChoices& choices) {
    RecordPrinter printer(session, choices);
    RawBuffer buffer(session.tracefs());
    buffer.drain_rest();
    const std::size_t events = print_records(ctx, buffer, printer, choices.last);
    tell_damage(ctx, buffer.damage());
    const LossLedger losses = buffer.losses();
    tell_end_of_buffer(ctx, choices, events, "read and removed; ", losses);
    return status_of(choices.strict, losses);
}

void print_or_consume_buffer(Context& ctx, const Session& session, const ShowChoices& choices) {
    if (choices.form.json && !BufferSnapshot::open(session.tracefs()))
        consume_buffer(ctx, session, choices);
    else
        print_buffer(ctx, session, choices);
}

}  // namespace gpufs
