#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/scan.h"
#include "base/text.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/page_file.h"
#include "cmd/shared/progress.h"
#include "cmd/shared/recording_input.h"
#include "cmd/shared/source_input.h"
#include "engine/recording/file.h"
#include "engine/recording/wanted_records.h"
#include "view/export/chrome.h"
#include "view/export/jobs.h"
#include "view/export/parquet_tables.h"
#include "view/export/perfetto.h"
#include "view/export/profile_files.h"
#include "view/export/record_timeline.h"
#include "view/export/stack_profile.h"
#include "view/export/tee.h"
#include "view/losses.h"
#include "view/trace/csv.h"

namespace gpufs {
namespace {

// A file to be written.
struct Target {
    const char* option;
    bool is_binary;
    std::optional<std::string> path{};  // "-": stdout
};

struct ExportOptions {
    std::optional<std::string> file, parquet;
    RecordingRange range;
    std::vector<std::string> events;
    bool strict = false;
    Target perfetto{"--perfetto", true}, chrome{"--chrome", false}, csv{"--csv", false},
        folded{"--folded", false}, pprof{"--pprof", true}, speedscope{"--speedscope", false};

    std::vector<const Target*> targets() const {
        std::vector<const Target*> given;
        for (const Target* one : {&perfetto, &chrome, &csv, &folded, &pprof, &speedscope})
            if (one->path) given.push_back(one);
        return given;
    }
    bool wants_timeline() const { return perfetto.path || chrome.path; }
    bool wants_stacks() const { return folded.path || pprof.path || speedscope.path; }
};

void check_targets(const ExportOptions& choices, const std::string& recording) {
    check_is_file("--parquet", choices.parquet);
    const std::vector<const Target*> targets = choices.targets();
    if (targets.empty() && !choices.parquet)
        throw UsageError("no format is given", "--perfetto OUT writes what ui.perfetto.dev opens");
    std::vector<OptionFile> files;
    for (const Target* one : targets) files.push_back({one->option, *one->path});
    check_are_apart(files);
    for (const Target* one : targets) {
        check_is_not_input(one->option, one->path, recording);
        if (*one->path == "-" && one->is_binary && ::isatty(STDOUT_FILENO) != 0)
            throw UsageError(cat(one->option, " writes bytes that are no text for a terminal"),
                             "name a file, or let stdout be a pipe");
    }
}

// The files that are open for writing; stdout is the context's.
class Outputs {
public:
    explicit Outputs(Context& ctx) : ctx_(ctx) {}

    Output& open(const Target& target) {
        if (*target.path == "-") return ctx_.out;
        return open(*target.path);
    }
    Output& open(const std::string& path) {
        Output& file = *files_.emplace_back(std::make_unique<Output>(-1, path));
        file.write_to(path);
        return file;
    }
    void flush() {
        for (const auto& file : files_) file->flush();
        ctx_.out.flush();
    }

private:
    Context& ctx_;
    std::vector<std::unique_ptr<Output>> files_;
};

// A part of a path as engines that read folders as columns take it, "host=NAME".
std::string path_part(std::string_view text) {
    std::string part;
    for (const char c : text) part += is_word_char(c) || c == '.' || c == '-' ? c : '_';
    return part.empty() || part.starts_with('.') ? cat("_", part) : part;
}

// The tables of a recording, DIR/events/host=NAME/date=DAY/HOUR-RECORDING.parquet and the same of
// jobs. A recording does not tell the time of day: day and hour (UTC) are those of the file's last
// change.
class Tables {
public:
    Tables(TraceFile& file, bool has_jobs, const std::string& directory,
           const std::string& recording, Outputs& outputs) {
        const std::vector<std::string> names = split(file.facts().uname, ' ');
        timespec changed{};
        ::clock_gettime(CLOCK_REALTIME, &changed);
        struct stat status {};
        if (recording != "-" && ::stat(recording.c_str(), &status) == 0 && S_ISREG(status.st_mode))
            changed = status.st_mtim;
        std::tm time{};
        ::gmtime_r(&changed.tv_sec, &time);
        char day[32], hour[8];
        std::strftime(day, sizeof day, "%Y-%m-%d", &time);
        std::strftime(hour, sizeof hour, "%H", &time);
        const std::string_view stem = recording == "-" ? kStandardInput : file_stem(recording);
        const std::string below =
            cat("/host=", path_part(names.size() > 1 ? names[1] : "unknown"), "/date=", day);
        const std::string name = cat("/", hour, "-", path_part(stem), ".parquet");
        const auto open = [&](const char* table) {
            const std::string folder = cat(directory, "/", table, below);
            make_directories(folder);
            Output& out = outputs.open(folder + name);
            return [&out](std::string_view bytes) { out.write(bytes); };
        };
        events_.emplace(file, open("events"));
        if (has_jobs) jobs_.emplace(file, open("jobs"));
    }

    void add(const TraceRecord& record) { events_->add(record); }
    void add_steps(std::span<const JobStep> steps, std::uint64_t time) {
        for (const JobStep& step : steps) jobs_->add(step, time);
    }
    void finish() {
        events_->finish();
        if (jobs_) jobs_->finish();
    }

private:
    std::optional<EventTable> events_;
    std::optional<JobTable> jobs_;
};

// Everything that is made of a recording, in one walk.
class Exports {
public:
    Exports(Context& ctx, TraceFile& file, const std::string& path, const ExportOptions& choices)
        : file_(file), outputs_(ctx) {
        if (choices.perfetto.path) add_writer<PerfettoWriter>(choices.perfetto);
        if (choices.chrome.path) add_writer<ChromeWriter>(choices.chrome);
        if (choices.wants_timeline()) timeline_.emplace(file, tee_);
        if (choices.parquet) {
            if (!timeline_) jobs_ = RecordedJobs::find(file);
            const bool has_jobs = timeline_ ? timeline_->has_jobs() : jobs_ != nullptr;
            tables_.emplace(file, has_jobs, *choices.parquet, path, outputs_);
        }
        if (choices.csv.path) {
            csv_out_ = &outputs_.open(choices.csv);
            csv_.emplace(file.context(), "");
            csv_out_->write(csv_->header());
        }
        if (!choices.wants_stacks()) return;
        profile_.emplace(file.context());
        add_profile(choices.folded, folded_stacks);
        add_profile(choices.speedscope, [](const StackProfile& profile) {
            return speedscope_json(profile, cat("gpufs ", version()));
        });
        add_profile(choices.pprof, [this](const StackProfile& profile) {
            return pprof_bytes(profile, file_.context().options.clock_is_ns);
        });
    }

    // False when what is left changes nothing.
    bool add(const WantedRecords::Seen& seen) {
        using Place = WantedRecords::Place;
        if (seen.place == Place::behind) return timeline_ && timeline_->add_behind(*seen.record);
        if (seen.place == Place::before) {
            if (timeline_) timeline_->add_before(*seen.record);
            return true;
        }
        const auto steps = steps_of(seen);
        if (tables_) tables_->add_steps(steps, seen.record->timestamp);
        if (seen.wanted) add_wanted(*seen.wanted);
        return true;
    }

    void finish() {
        tee_.finish();
        if (tables_) tables_->finish();
        if (profile_) profile_->finish();
        for (const auto& [out, text_of] : profile_files_) out->write(text_of(*profile_));
        outputs_.flush();
    }

    std::vector<std::string> notes() const {
        std::vector<std::string> notes;
        if (timeline_) notes = timeline_->notes();
        if (jobs_) notes = jobs_->notes();
        if (tables_ && !timeline_)
            if (const std::string note = clock_note(file_); !note.empty()) notes.push_back(note);
        if (profile_ && profile_->counts().empty())
            notes.push_back(
                "the recording has no stacks: 'gpufs record --trigger stacktrace' takes them");
        if (profile_ && profile_->stray() != 0)
            notes.push_back(stray_stacks_text(profile_->stray()));
        return notes;
    }

private:
    std::span<const JobStep> steps_of(const WantedRecords::Seen& seen) {
        if (timeline_)
            return seen.wanted ? timeline_->add(*seen.wanted) : timeline_->add_unseen(*seen.record);
        return jobs_ ? jobs_->steps_of(*seen.record) : std::span<const JobStep>();
    }
    void add_wanted(const TraceRecord& record) {
        if (profile_) profile_->add(record);
        if (tables_) tables_->add(record);
        if (!csv_) return;
        line_.clear();
        csv_->print(record, line_);
        csv_out_->write(line_);
    }
    template <class Writer>
    void add_writer(const Target& target) {
        Output& out = outputs_.open(target);
        writers_.push_back(
            std::make_unique<Writer>([&out](std::string_view bytes) { out.write(bytes); }));
        tee_.add(*writers_.back());
    }
    using TextOf = std::function<std::string(const StackProfile&)>;
    void add_profile(const Target& target, TextOf text_of) {
        if (target.path) profile_files_.emplace_back(&outputs_.open(target), std::move(text_of));
    }

    TraceFile& file_;
    Outputs outputs_;
    std::vector<std::unique_ptr<TimelineWriter>> writers_;
    TimelineTee tee_;
    std::optional<RecordTimeline> timeline_;
    std::unique_ptr<RecordedJobs> jobs_;  // null: the recording has none, or the timeline has them
    std::optional<Tables> tables_;
    Output* csv_out_ = nullptr;
    std::optional<RecordCsv> csv_;
    std::string line_;
    std::optional<StackProfile> profile_;
    std::vector<std::pair<Output*, TextOf>> profile_files_;
};

RecordChoice choice_of(TraceFile& file, const ExportOptions& choices) {
    RecordChoice choice;
    choice.events = choices.events;
    choices.range.limit(choice, file);
    choice.looks_around = choices.wants_timeline() && RecordedJobs::are_in(file);
    return choice;
}

int export_file(Context& ctx, TraceFile& file, const std::string& path,
                const ExportOptions& choices) {
    WantedRecords wanted(file, choice_of(file, choices));
    Exports exports(ctx, file, path, choices);
    {
        Progress progress(ctx.err, file);
        for (WantedRecords::Seen seen; (seen = wanted.next_seen(file)).record; progress.step())
            if (!exports.add(seen)) break;
    }
    exports.finish();
    const int status =
        tell_end(ctx, file, exports.notes(), losses_of(file, wanted), choices.strict);
    if (const std::string note = choices.range.missed_text(file, wanted); !note.empty())
        ctx.err.line(note);
    return status;
}

}  // namespace

int cmd_export(Context& ctx, Args args) {
    std::vector<std::string> words;
    ExportOptions choices;
    Options options(
        "export [[-i] FILE] [-e EVENT…] [--from T] [--to T] "
        "{--perfetto | --chrome | --csv | --folded | --pprof | --speedscope} OUT… [--parquet DIR]",
        "Writes a recording (trace.dat of gpufs record or trace-cmd, perf.data, or the text of\n"
        "tracefs' file trace) in the formats of other tools, several at once if you like. OUT - "
        "is\n"
        "stdout.");
    options.value("input,i", choices.file, "FILE", "the recording; trace.dat if not given")
        .value("perfetto", choices.perfetto.path, "OUT",
               "for ui.perfetto.dev: tasks, GPU jobs, all events")
        .value("chrome", choices.chrome.path, "OUT", "the same as JSON, for chrome://tracing")
        .value("csv", choices.csv.path, "OUT", "a table for spreadsheets, a row for each event")
        .value("folded", choices.folded.path, "OUT", "counted stacks, for flame graphs")
        .value("pprof", choices.pprof.path, "OUT", "counted stacks, for pprof; packed by gzip")
        .value("speedscope", choices.speedscope.path, "OUT",
               "counted stacks as JSON, for www.speedscope.app")
        .value("parquet", choices.parquet, "DIR",
               "tables of events and jobs, for DuckDB, Spark, ClickHouse")
        .events(choices.events);
    choices.range.add_to(options);
    options.strict(choices.strict);
    if (!options.parse(ctx, args, words)) return kOk;
    check_words(words, choices.file ? 0 : 1, "one recording is exported; events go with -e");
    if (!words.empty()) choices.file = words.front();
    choices.range.check();
    const std::string path = recording_path(choices.file, "export");
    check_targets(choices, path);
    TraceFile file(path);
    return export_file(ctx, file, path, choices);
}

}  // namespace gpufs
