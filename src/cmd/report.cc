#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/page_file.h"
#include "cmd/shared/progress.h"
#include "cmd/shared/recording_input.h"
#include "engine/recording/file.h"
#include "engine/recording/wanted_records.h"
#include "kernel/host/cpus.h"
#include "view/export/record_timeline.h"
#include "view/losses.h"
#include "view/monitor/stack_order.h"
#include "view/trace/csv.h"
#include "view/trace/json.h"
#include "view/trace/kernel_text.h"
#include "view/trace/parallel_text.h"
#include "view/trace/statistics.h"
#include "view/trace/trace_cmd_text.h"

namespace gpufs {
namespace {

struct ReportOptions {
    std::optional<std::string> file, html, title;
    std::optional<std::vector<unsigned>> cpus;
    RecordingRange range;
    std::vector<std::string> events;
    std::optional<Expression> condition;
    std::vector<int> pids;
    Controls controls = Controls::escaped;
    bool stacks = false, json = false, csv = false, statistics = false, strict = false;
};

RecordChoice choice_of(TraceFile& file, const ReportOptions& choices) {
    RecordChoice choice;
    choice.events = choices.events;
    choice.condition = choices.condition;
    choice.pids = choices.pids;
    if (choices.cpus) choice.cpus = *choices.cpus;
    choices.range.limit(choice, file);
    choice.looks_around = choices.html && RecordedJobs::are_in(file);
    return choice;
}

// What stands in front of each buffer's lines: nothing where there is one buffer only.
std::vector<std::string> prefixes(const TraceFile& file, Controls controls) {
    std::vector<std::string> names, all;
    std::size_t width = 0;
    for (const TraceFile::Buffer& buffer : file.buffers()) {
        names.push_back(printable(buffer.name, controls));
        width = std::max(width, names.back().size());
    }
    for (const std::string& name : names)
        all.push_back(width == 0 ? ""
                                 : cat(std::string(width - name.size(), ' '), name,
                                       name.empty() ? "  " : ": "));
    return all;
}

// The event that the words mean, if it is one; else nothing.
std::string only_event(TraceFile& file, const std::vector<std::string>& words) {
    if (words.empty()) return {};
    const auto meant = file.context().events.match(words);
    return meant.size() == 1 ? meant[0] : std::string();
}

// Prints each record by `print`, with --stacks each stack below its event. Returns how many records
// there were, without the stacks.
template <class Print>
std::size_t print_all(Context& ctx, TraceFile& file, WantedRecords& wanted, bool stacks,
                      Print&& print) {
    std::size_t shown = 0;
    std::string lines;
    StackOrder order([&](std::string_view text) { ctx.out.write(text); });
    while (const TraceRecord* record = wanted.next(file)) {
        lines.clear();
        print(*record, lines);
        const bool is_stack = wanted.is_stack(record->id());
        shown += !is_stack;
        if (stacks)
            order.add(*record, is_stack, lines);
        else
            ctx.out.write(lines);
    }
    order.flush();
    return shown;
}

// How many other threads help to print: none for what is printed at once.
std::size_t helpers_for(const TraceFile& file) {
    constexpr std::uint64_t kLittle = 1 << 20;
    constexpr std::size_t kMost = 7;
    if (!file.has_fixed_context() || file.progress().all < kLittle) return 0;
    return std::min(kMost, usable_cpus() - 1);
}

void print_text(Context& ctx, TraceFile& file, WantedRecords& wanted,
                const ReportOptions& choices) {
    const std::vector<std::string> before = prefixes(file, choices.controls);
    const auto prefix_of = [&](const TraceRecord& record) {
        return static_cast<std::size_t>(&file.buffer_of(record) - file.buffers().data());
    };
    ctx.out.line(cat("cpus=", file.facts().cpus));
    const std::size_t helpers = choices.stacks ? 0 : helpers_for(file);
    if (helpers != 0) {
        ParallelText text(file.context(), before, helpers,
                          [&](std::string_view lines) { ctx.out.write(lines); });
        while (const TraceRecord* record = wanted.next(file)) text.add(*record, prefix_of(*record));
        text.finish();
        return;
    }
    TraceCmdText text(file.context());
    print_all(ctx, file, wanted, choices.stacks, [&](const TraceRecord& record, std::string& out) {
        text.print(record, before[prefix_of(record)], out);
    });
}

void print_statistics(Context& ctx, TraceFile& file, WantedRecords& wanted, bool json) {
    TraceStatistics statistics(file.context());
    while (const TraceRecord* record = wanted.next(file)) statistics.add(*record);
    for (const int cpu : file.cpus()) statistics.set_lost(cpu, wanted.lost_on(cpu));
    ctx.out.write(json ? statistics.to_json(file) : statistics.to_text(file));
}

void write_page(Context& ctx, TraceFile& file, WantedRecords& wanted,
                const ReportOptions& choices) {
    TraceStatistics statistics(file.context());
    PageFile page(*choices.html, choices.title.value_or(recording_name(*choices.file)));
    RecordTimeline timeline(file, page.writer());
    {
        Progress progress(ctx.err, file);
        for (WantedRecords::Seen seen; (seen = wanted.next_seen(file)).record; progress.step()) {
            if (seen.place == WantedRecords::Place::behind && !timeline.add_behind(*seen.record))
                break;
            if (seen.place == WantedRecords::Place::before) timeline.add_before(*seen.record);
            if (seen.place != WantedRecords::Place::within) continue;
            if (!seen.wanted) {
                timeline.add_unseen(*seen.record);
                continue;
            }
            statistics.add(*seen.wanted);
            timeline.add(*seen.wanted);
        }
    }
    for (const int cpu : file.cpus()) statistics.set_lost(cpu, wanted.lost_on(cpu));
    page.writer().add_report("Events", statistics.to_text(file));
    page.finish(timeline);
}

// Returns how many records were printed as JSON.
std::size_t print_as_chosen(Context& ctx, TraceFile& file, WantedRecords& wanted,
                            const ReportOptions& choices) {
    std::size_t shown = 0;
    if (choices.html) {
        write_page(ctx, file, wanted, choices);
    } else if (choices.statistics) {
        print_statistics(ctx, file, wanted, choices.json);
    } else if (choices.json) {
        TraceJson json(file.context());
        shown = print_all(
            ctx, file, wanted, choices.stacks,
            [&](const TraceRecord& record, std::string& out) { json.print(record, out); });
    } else if (choices.csv) {
        RecordCsv csv(file.context(), only_event(file, choices.events));
        ctx.out.write(csv.header());
        print_all(ctx, file, wanted, choices.stacks,
                  [&](const TraceRecord& record, std::string& out) { csv.print(record, out); });
    } else {
        print_text(ctx, file, wanted, choices);
    }
    return shown;
}

// What was asked for and is not in the recording.
void tell_missing(Context& ctx, TraceFile& file, const WantedRecords& wanted,
                  const ReportOptions& choices) {
    if (const std::string note = choices.range.missed_text(file, wanted); !note.empty()) {
        ctx.err.line(note);
        return;
    }
    for (const int pid : wanted.missing_pids())
        ctx.err.line(cat("no record here is of task ", pid));
}

// --html excludes the other formats.
void check_page(const ReportOptions& choices) {
    check_is_file("--html", choices.html);
    if (choices.title && !choices.html) throw UsageError("--title goes with --html");
    const char* const other = first_given({{"--json", choices.json},
                                           {"--csv", choices.csv},
                                           {"--stat", choices.statistics},
                                           {"--stacks", choices.stacks}});
    if (choices.html && other) throw UsageError(cat("--html does not go with ", other));
}

}  // namespace

int cmd_report(Context& ctx, Args args) {
    std::vector<std::string> words;
    ReportOptions choices;
    Options options(
        "report [[-i] FILE] [-e EVENT…] [--if EXPR] [--cpu LIST] [-p PID] [--from T] [--to T] "
        "[--stacks] [--json | --csv | --stat | --html FILE]",
        "Prints a recording as 'trace-cmd report' does: trace.dat of gpufs record or trace-cmd,\n"
        "perf.data, or the text of tracefs' file trace. It may come from another machine.");
    options.value("input,i", choices.file, "FILE", "the recording; trace.dat if not given")
        .events(choices.events)
        .condition(choices.condition)
        .parsed("cpu", "LIST", "only these CPUs (0-3,7)",
                [&](const std::string& text) { choices.cpus = parse_cpu_list("--cpu", text); })
        .recorded_tasks(choices.pids,
                        "only this task (a thread, not its whole process; 0: idle); repeated");
    choices.range.add_to(options);
    options.flag("stacks", choices.stacks, "each stack directly below its event")
        .flag("csv", choices.csv, "a table for spreadsheets")
        .flag("stat", choices.statistics, "how many of what, when, where")
        .value("html", choices.html, "FILE", "draw it as one page with a timeline, for a browser")
        .value("title", choices.title, "TEXT", "what stands above the page")
        .output()
        .strict(choices.strict)
        .json(choices.json)
        .raw(choices.controls);
    if (!options.parse(ctx, args, words)) return kOk;
    check_words(words, choices.file ? 0 : 1, "one recording is printed; events go with -e");
    if (!words.empty()) choices.file = words.front();
    if (choices.csv)
        check_exclusive(
            {{"--csv", true}, {"--json", choices.json}, {"--stat", choices.statistics}});
    check_page(choices);
    choices.range.check();

    const std::string path = recording_path(choices.file, "report");
    check_is_not_input("--html", choices.html, path);
    check_is_not_input("--output", ctx.out.file(), path);
    choices.file = path;
    TraceFile file(path);
    file.context().controls = choices.controls;
    WantedRecords wanted(file, choice_of(file, choices));
    const std::size_t shown = print_as_chosen(ctx, file, wanted, choices);
    const LossLedger losses = losses_of(file, wanted);
    if (choices.json && !choices.statistics) ctx.out.line(records_summary_json(shown, losses));
    ctx.out.flush();
    const int status = tell_end(ctx, file, {}, losses, choices.strict);
    tell_missing(ctx, file, wanted, choices);
    return status;
}

}  // namespace gpufs
