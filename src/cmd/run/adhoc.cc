#include "cmd/run/adhoc.h"

#include <algorithm>

#include "base/file_id.h"
#include "base/glob.h"
#include "base/map_spec.h"
#include "base/printable.h"
#include "base/text.h"
#include "cmd/shared/argument_ways.h"
#include "cmd/shared/run_loop.h"
#include "engine/monitor/adhoc_events.h"
#include "engine/symbols/code_files.h"
#include "kernel/host/proc_task.h"
#include "lang/event/task_naming.h"

namespace gpufs {
namespace {

// Of processes that see another file there than we do, as in a container, it is theirs.
void choose_file(Context& ctx, const std::vector<int>& pids, std::string& file) {
    std::optional<std::string> chosen;
    for (const int pid : pids) {
        auto found = find_code_files(file, {pid});
        if (found.index() != 0 || std::get<0>(found).size() != 1) return;  // said as of all others
        std::string& path = std::get<0>(found).front();
        if (chosen && file_id(*chosen) != file_id(path))
            throw UsageError(cat("these processes have several files '", file, "'"),
                             "ask about one of them at a time");
        chosen = std::move(path);
    }
    if (!chosen || !chosen->starts_with("/proc/") || *chosen == file) return;
    ctx.err.line(cat("'", file, "' is that of the process: ", *chosen));
    file = *chosen;
}

}  // namespace

bool parse_adhoc(Context& ctx, Args args, Options& options, AdhocChoices& choices,
                 AdhocSubjects subjects) {
    options.value("exec,x", choices.file, "FILE",
                  "a program or library: a word without a colon is a function of it");
    add_run_options(options, choices.run);
    options.pids(choices.pids, "only while these processes run; repeated or separated by commas")
        .parsed("comm", "GLOB", "only while a task of such a name runs",
                [&](const std::string& glob) {
                    choices.comm = parse_expression({"--comm", cat("COMM ~ \"", glob, '"')});
                })
        .count("max-keys", choices.max_keys,
               "keep at most N keys; hits of further keys are counted as lost")
        .count("top", choices.top, "show only the N first keys, and how many more there are");
    choices.run.command = take_command(args);
    if (!options.parse(ctx, args, choices.words)) return false;
    if (!choices.run.input)
        for (const int pid : choices.pids) proc::require_tgid(pid);
    std::vector<std::size_t> became;
    if (choices.file && !choices.run.input && !is_glob(*choices.file))
        choose_file(ctx, choices.pids, *choices.file);
    if (choices.file)
        became = set_file(choices.words, *choices.file, static_cast<std::size_t>(subjects));
    if (subjects == AdhocSubjects::start_and_end) {
        if (!became.empty()) choices.starts = became[0];
        if (became.size() > 1) choices.ends = became[1];
        choices.has_added_end = add_end(choices.words, choices.starts);
        if (choices.has_added_end) choices.ends = choices.starts;
    }
    if (choices.max_keys && *choices.max_keys > kMostMapEntries)
        throw UsageError(cat("--max-keys is ", kMostMapEntries, " at most"),
                         "each key takes memory of the kernel from the start");
    follow_command(choices.run, !choices.pids.empty());
    choices.run.pids = choices.pids;
    return true;
}

std::size_t AdhocChoices::add_source(SourceText source) {
    sources.push_back(std::move(source));
    return sources.size() - 1;
}

AdhocAsker::AdhocAsker(std::string name, const AdhocChoices& choices)
    : choices_(choices),
      words_(parse_adhoc_words(std::move(name), choices.words)),
      recording_(choices.run.input ? std::make_unique<TraceFile>(*choices.run.input) : nullptr),
      machine_(recording_ ? KernelFacts(recording_->context().events) : KernelFacts()) {
    choices_.sources.front() = words_.source;
}

void AdhocAsker::require_subjects(std::size_t least, std::size_t most,
                                  const std::string& what) const {
    const std::size_t given = words_.subjects.size();
    if (given < least)
        throw UsageError(cat(words_.source.name, " needs ", what),
                         cat("'gpufs ", words_.source.name, " --help' shows how"));
    if (given > most)
        throw SourceError(words_.source, words_.subjects[most].at.span,
                          cat(words_.source.name, " takes ", what, ", and 'by' with keys"));
}

bool AdhocAsker::may_name(std::string_view name) const {
    const auto has = [&](const SourceText& source) {
        return source.text.find(name) != std::string::npos;
    };
    const auto& condition = choices_.run.condition;
    return std::ranges::any_of(choices_.sources, has) || (condition && has(condition->source));
}

std::vector<AskedName> AdhocAsker::asked_names(std::span<const AdhocWord> also,
                                               bool is_one_of_several) const {
    std::vector<AskedName> names;
    const auto add = [&](const AdhocWord& word) {
        Span at = word.at.span;
        // "str(NAME)", "file(NAME)"; "start.NAME" of a latency.
        for (const std::string_view front : {"str(", "file(", "start."}) {
            if (!word.text.starts_with(front)) continue;
            at.begin += front.size();
            if (front.ends_with('(')) --at.end;
        }
        names.push_back({choices_.sources[word.at.source], at, !is_one_of_several});
    };
    for (const AdhocWord& key : words_.keys) add(key);
    for (const AdhocWord& word : also) add(word);
    if (choices_.run.condition)
        for (const std::string& field : fields_of(*choices_.run.condition))
            names.push_back({{"--if", field}, {0, field.size()}, !is_one_of_several});
    return names;
}

std::vector<AdhocEvent> AdhocAsker::find_events(std::span<const AdhocWord> words,
                                                std::span<const AdhocWord> also,
                                                bool is_one_of_several) {
    Diagnostics mistakes;
    // Looking for the functions of a pattern costs time: only where some text may name the key.
    found_.tells_functions = may_name(kFunctionKey);
    found_.tells_probes = may_name("probe");
    found_.names = asked_names(also, is_one_of_several);
    std::vector<AdhocEvent> events =
        find_adhoc_events(words_.source, words, machine_, mistakes, found_);
    mistakes.throw_if_any();
    // The first words are those that COMMAND is for: of a latency START.
    if (words.data() == words_.subjects.data()) note_wakeups(events);
    for (AdhocEvent& event : events)
        for (std::size_t i = 0; i < event.fetched.size(); ++i)
            if (!event.fetched[i].variable)
                event.fetched[i].is_asked_for = may_name(event.format.fields[i].name);
    return events;
}

void AdhocAsker::note_wakeups(std::span<const AdhocEvent> events) {
    if (!choices_.run.follows) return;
    constexpr std::size_t kMostComm = 15;  // TASK_COMM_LEN
    for (const AdhocEvent& event : events) {
        if (!is_wakeup(event.format.full_name())) continue;
        const std::string& command = choices_.run.command.front();
        const std::string name = printable(command.substr(command.rfind('/') + 1, kMostComm));
        found_.notes.push_back(
            cat(event.format.full_name(),
                " happens in the task that wakes, so this is about wakeups by COMMAND; for those "
                "of it: --all --if 'comm == \"",
                name, "\"'"));
        return;
    }
}

std::optional<AdhocEvent> AdhocAsker::find_tracepoint(const std::string& name) {
    const EventFormat* const format = machine_.events().find_format(name);
    if (!format) return std::nullopt;
    AdhocEvent event;
    event.target.name = name;
    event.format = *format;
    event.is_record = true;
    return event;
}

AdhocEvent AdhocAsker::find_traced(const AdhocWord& word) {
    const std::vector<AdhocEvent> found = find_events(std::span(&word, 1));
    const std::string name = found.front().format.full_name();
    if (std::ranges::any_of(found,
                            [&](const AdhocEvent& one) { return one.format.full_name() != name; }))
        throw SourceError(words_.source, word.at.span,
                          cat("these are ", counted(found.size(), "event"),
                              ": hist triggers pair one START with one END"));
    if (auto event = find_tracepoint(name)) {
        event->target.at = word.at;
        return *event;
    }
    throw SourceError(words_.source, word.at.span,
                      "hist triggers are set on events of tracefs, and this is none",
                      "'gpufs probe add' makes one of a place in code; or leave --in-kernel away");
}

AdhocFilter AdhocAsker::filter() {
    AdhocFilter filter;
    filter.pids = choices_.pids;
    filter.followed = choices_.run.follows;
    filter.comm = choices_.comm;
    filter.condition = choices_.run.condition;
    if (filter.condition) filter.condition_source = choices_.add_source(filter.condition->source);
    return filter;
}

AdhocQuestion AdhocAsker::question(std::vector<AdhocEvent> events) {
    AdhocQuestion question;
    question.title = words_.source.text;
    question.events = std::move(events);
    question.keys = words_.keys;
    question.filter = filter();
    question.sources = choices_.sources;
    if (choices_.max_keys) question.max_keys = *choices_.max_keys;
    return question;
}

int AdhocAsker::run(Context& ctx, const LatencyHists& hists) {
    choices_.run.hists = &hists;
    return run(ctx, hists.program);
}

int AdhocAsker::run(Context& ctx, Program program) {
    for (const std::string& note : found_.notes) ctx.err.line(note);
    if (choices_.run.explain && !found_.ways.empty())
        ctx.err.write(ways_table(found_.ways, choices_.run.controls));
    if (choices_.top)
        for (Report& report : program.reports) report.top = *choices_.top;
    RunChoices run = choices_.run;
    run.condition.reset();  // it is in the program
    run.recording = recording_.get();
    run.is_adhoc = true;
    if (run.pictures.has_files() && !run.pictures.title)
        run.pictures.title = cat("gpufs ", words_.source.name, ' ', words_.source.text);
    return run_program(ctx, std::move(program), std::move(run));
}

}  // namespace gpufs
