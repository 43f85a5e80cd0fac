#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "base/signals.h"
#include "base/text.h"
#include "base/units.h"
#include "base/unnamed_file.h"
#include "cmd/record/perfetto.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/run_loop.h"
#include "engine/recipe/run.h"
#include "engine/recorder/compress.h"
#include "engine/recorder/kernel_header.h"
#include "engine/recorder/recorder.h"
#include "engine/recorder/recording_file.h"
#include "engine/recorder/session.h"
#include "engine/session/stale.h"
#include "engine/trace/raw_buffer.h"
#include "kernel/host/pid_namespace.h"
#include "kernel/host/real_time.h"
#include "view/json.h"
#include "view/losses.h"

namespace gpufs {
namespace {

using std::chrono::milliseconds;

// The interval of flushes: at most these records are lost if this process is killed.
constexpr milliseconds kFlushEach{1000};
// The time of the first flush.
constexpr milliseconds kFirstFlush{100};
// The interval at which to check whether a trigger has switched the buffer off.
constexpr milliseconds kLookAtSwitch{50};
constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

struct RecordOptions {
    RecordRequest request;
    std::vector<int> pids;
    std::vector<std::string> command;
    std::optional<std::string> file, perfetto;
    int out = -1;  // where the recording is written instead of a file
    std::optional<std::uint64_t> max, buffer;
    std::optional<std::chrono::nanoseconds> duration;
    bool all = false, ring = false, compress = false, strict = false, json = false;
};

// Why a recording ended early.
enum class Early { no, switched_off, file_has_its_size, file_may_not_grow, disk_is_full };

// Room for about 100 ms of the fastest events; at most 512 MB in total.
std::uint64_t default_buffer(const Tracefs& top) {
    constexpr std::uint64_t kEach = 8 << 20, kAll = 512 << 20, kLeast = 1408 << 10;
    return std::clamp(kAll / buffer_cpus(top).size() / 4096 * 4096, kLeast, kEach);
}

// `pids`: whose events, and their children's; none: all tasks'.
void add_settings(RecordRequest& request, const RecordOptions& choices,
                  const std::vector<int>& pids, const Tracefs& top) {
    // The same clock on all CPUs, which BPF programs and clock_gettime(2) use, too.
    const std::uint64_t buffer = choices.buffer ? *choices.buffer : default_buffer(top);
    request.settings = {{"clock", "mono"}, {"buffer", size_to_text(buffer)}};
    if (pids.empty()) return;
    std::vector<std::string> words;
    for (const int pid : pids) words.push_back(cat(pid));
    request.settings.push_back({"pids", threads_of(join(words, ","))});
    request.settings.push_back({"children", "on"});
}

// A recording, from making its instance to printing the summary.
class Recording {
public:
    Recording(Context& ctx, const RecordOptions& choices, const Tracefs& top)
        : ctx_(ctx),
          choices_(choices),
          path_(choices.file.value_or("trace.dat")),
          max_(choices.max.value_or(kNoLimit)),
          session_(top, choices.request),
          recorder_(session_.tracefs(), top),
          told_(recorder_.counts()) {}

    // Writes pages to the file continuously.
    void run(RunLoop& loop);
    // The kernel keeps the latest pages; writes them to the file at the end and at each SIGUSR1.
    void run_ring(RunLoop& loop);

    const LossLedger& losses() const { return lost_; }
    bool has_failed() const {
        return early_ == Early::disk_is_full || early_ == Early::file_may_not_grow;
    }

private:
    trace_dat::Head read_head() const {
        return read_trace_head(session_.tracefs(), session_.top(), session_.events(),
                               session_.has_stacks());
    }
    void follow(RunLoop& loop, RecordingFile& file, const trace_dat::Head& head);
    using Take = bool (Recorder::*)(RecordingFile&, std::uint64_t);
    bool take(RecordingFile& file, Take how);
    RecordingFile open() const {
        if (choices_.out != -1) return {open_unnamed_file(), "stdout"};
        return RecordingFile(path_);
    }
    void close(RecordingFile& file);
    void write_ring();
    void tell(const RecordingFile& file, bool has_gaps);
    void tell_early(const RecordingFile& file);
    milliseconds time_to_wait(const RunLoop& loop, milliseconds longest) const {
        longest = std::min(longest, loop.left());
        return session_.ends_when_off() ? std::min(longest, kLookAtSwitch) : longest;
    }
    bool is_switched_off() const { return session_.ends_when_off() && !session_.is_on(); }

    Context& ctx_;
    const RecordOptions& choices_;
    std::string path_;
    std::uint64_t max_;
    RecordSession session_;
    Recorder recorder_;
    Early early_ = Early::no;
    std::vector<Recorder::Counts> told_;  // at the last file
    LossLedger lost_;                     // in all files
    std::size_t files_ = 0;
};

void Recording::run(RunLoop& loop) {
    RecordingFile file = open();
    const trace_dat::Head head = read_head();
    recorder_.take_room(file, head);
    session_.start();
    loop.begin();
    follow(loop, file, head);
    session_.stop();
    if (early_ == Early::no || early_ == Early::switched_off) take(file, &Recorder::move_rest);
    close(file);
}

// The file's old content is kept until the command has been started successfully.
void Recording::follow(RunLoop& loop, RecordingFile& file, const trace_dat::Head& head) {
    using Clock = std::chrono::steady_clock;
    const RealTime first;
    auto flush_at = Clock::now() + kFirstFlush;
    for (bool is_over = false; !is_over && early_ == Early::no;) {
        const auto left = std::chrono::ceil<milliseconds>(flush_at - Clock::now());
        recorder_.wait(loop.wake_fd(), time_to_wait(loop, std::max(left, milliseconds(0))));
        is_over = loop.is_over();
        if (!file.has_begun()) recorder_.begin(file, head, max_);
        const bool flushes = Clock::now() >= flush_at;
        if (is_switched_off()) early_ = Early::switched_off;
        if (!take(file, flushes ? &Recorder::move_all : &Recorder::move) || !flushes) continue;
        recorder_.update(file);
        flush_at = Clock::now() + kFlushEach;
    }
}

// Returns false when the recording must end.
bool Recording::take(RecordingFile& file, Take how) {
    try {
        if ((recorder_.*how)(file, max_)) return true;
        early_ = file.bytes() + file.page_bytes() > max_ ? Early::file_has_its_size
                                                         : Early::file_may_not_grow;
    } catch (const SysError& e) {
        if (!is_full_disk(e.code())) throw;
        early_ = e.code() == EFBIG ? Early::file_may_not_grow : Early::disk_is_full;
    }
    return false;
}

void Recording::close(RecordingFile& file) {
    recorder_.update(file);
    const bool has_gaps = !file.close_gaps();
    if (choices_.compress) {
        try {
            compress_recording(file.path());
        } catch (const SysError& e) {
            if (!is_full_disk(e.code())) throw;
            ctx_.err.line(cat("gpufs: '", file.path(), "' is not compressed: the disk is full"));
        }
    }
    if (choices_.out != -1) file.write_to(choices_.out, "stdout");
    tell(file, has_gaps);
}

void Recording::run_ring(RunLoop& loop) {
    AwaitedSignal asked(SIGUSR1);
    { const RecordingFile can_be_written(path_); }
    session_.start();
    loop.begin();
    loop.wake_for(asked.fd());
    for (bool is_over = false; !is_over && early_ == Early::no;) {
        loop.wait(session_.ends_when_off() ? kLookAtSwitch : milliseconds::max());
        is_over = loop.is_over();
        if (is_switched_off()) early_ = Early::switched_off;
        if (is_over || early_ != Early::no || !asked.take()) continue;
        session_.stop();
        write_ring();
        session_.start();
    }
    session_.stop();
    write_ring();
}

void Recording::write_ring() {
    ++files_;
    RecordingFile file(files_ == 1 ? path_ : cat(path_, '.', files_));
    recorder_.begin(file, read_head(), max_);
    take(file, &Recorder::move_rest);
    recorder_.forget_overwritten(file);
    close(file);
}

void Recording::tell_early(const RecordingFile& file) {
    switch (early_) {
        case Early::no:
            break;
        case Early::switched_off:
            ctx_.err.line("a trigger stopped the buffer");
            break;
        case Early::file_has_its_size:
            ctx_.err.line("stopped: the records have the size that --max allows");
            break;
        case Early::file_may_not_grow:
            ctx_.err.line(cat("gpufs: '", file.path(),
                              "' may not become larger here: it has what was recorded until then"));
            break;
        case Early::disk_is_full:
            ctx_.err.line(cat("gpufs: the disk is full: '", file.path(),
                              "' has what was recorded until then"));
            break;
    }
}

void Recording::tell(const RecordingFile& file, bool has_gaps) {
    const std::vector<Recorder::Counts> counts = recorder_.counts();
    std::uint64_t records = 0, overwritten = 0;
    LossLedger losses;
    JsonArray cpus;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const Recorder::Counts &now = counts[i], &before = told_[i];
        // Overwriting old records of a ring is not a loss.
        const std::uint64_t over = choices_.ring ? now.overrun - before.overrun : 0;
        Loss lost = Loss::exactly(now.lost() - before.lost() - over);
        const std::uint64_t written = now.written - before.written;
        records += written;
        overwritten += over;
        losses.add(cat("on CPU ", now.cpu), lost);
        const Loss without_room = Loss::exactly(now.unwritten - before.unwritten);
        if (!without_room.is_zero())
            losses.add("records that found no room on the disk", without_room);
        lost += without_room;
        JsonObject cpu;
        cpu.raw("key", JsonObject().number("cpu", now.cpu).done()).number("count", written);
        cpus.add(add_loss(cpu, "lost", lost).done());
    }
    told_ = counts;
    lost_.add(losses);
    tell_early(file);
    if (choices_.json) {
        JsonObject line;
        line.text("file", file.path()).number("bytes", file.bytes()).number("records", records);
        add_loss(line, "lost", losses.total())
            .number("overwritten", overwritten)
            .raw("cpus", cpus.done());
        ctx_.out.line(line.done());
        ctx_.out.flush();
        return;
    }
    std::string words = cat(counted(records, "record"), " (", size_to_text(file.bytes()), ") in ",
                            file.path(), ", ");
    if (choices_.ring) words += cat(overwritten, " older overwritten, ");
    ctx_.err.line(words + losses_text(losses));
    if (has_gaps)
        ctx_.err.line("there is no room to move its parts together: it has holes, and can be read");
    if (choices_.out == -1)
        ctx_.err.line(cat("look at it: gpufs report -i ", shell_quote(file.path())));
    ctx_.err.flush();
}

// For -o -: the recording's own descriptor for stdout. Everything else that would go to stdout,
// such as the command's output, goes to stderr.
Fd take_stdout() {
    Fd out{check(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0),
                 [] { return std::string("write to stdout"); })};
    check(::dup2(STDERR_FILENO, STDOUT_FILENO), [] { return std::string("write to stdout"); });
    return out;
}

// Instead of a trace.dat.
int record_for_perfetto(Context& ctx, const RecordOptions& choices, RunLoop& loop,
                        const Tracefs& top) {
    RecordSession session(top, choices.request);
    Output out(choices.out, choices.out == -1 ? *choices.perfetto : "stdout");
    if (choices.out == -1) out.write_to(*choices.perfetto);
    const LossLedger losses = record_perfetto(ctx, loop, session, out);
    if (const std::string line = loop.command_end(); !line.empty()) ctx.err.line(line);
    ctx.err.flush();
    return loop.exit_status(status_of(choices.strict, losses));
}

int record_events(Context& ctx, RecordOptions& choices) {
    if (choices.request.events.empty() && !choices.request.gpu)
        throw UsageError("nothing to record: there is no -e and no --gpu",
                         "such as: gpufs record -e sched_switch -- make");
    if (choices.ring && choices.max)
        throw UsageError("--max does not go with --ring", "--buffer says how much a ring keeps");
    const bool is_to_stdout = choices.file == "-" || choices.perfetto == "-";
    const char* const of_a_file = first_given(
        {{"--ring", choices.ring}, {"--compress", choices.compress}, {"--json", choices.json}});
    if (choices.file == "-" && of_a_file)
        throw UsageError(cat("-o - does not go with ", of_a_file),
                         "a pipe takes one recording, once");
    if (choices.all && choices.command.empty())
        throw UsageError("--all goes with a COMMAND", "without one the whole machine is recorded");
    const char* const of_a_dat = choices.file ? "-o" : choices.max ? "--max" : of_a_file;
    if (choices.perfetto && of_a_dat)
        throw UsageError(cat("--perfetto does not go with ", of_a_dat),
                         "record a trace.dat, and 'gpufs export' writes it for Perfetto");
    RunLoop loop(choices.duration);
    const Tracefs top = find_tracefs();
    remove_stale(top);
    Fd out;
    if (is_to_stdout) choices.out = (out = take_stdout()).get();
    loop.hold(choices.command, command_output(ctx.out, choices.json));
    std::vector<int> pids = choices.pids;
    // GPUs end their jobs in interrupts, of which no task is known.
    const bool follows = loop.command() && !choices.all && !choices.request.gpu && pids.empty();
    if (follows) require_pids_to_follow();
    if (follows) pids.push_back(loop.command()->pid());
    add_settings(choices.request, choices, pids, top);
    if (choices.perfetto) return record_for_perfetto(ctx, choices, loop, top);
    Recording recording(ctx, choices, top);
    if (choices.ring)
        recording.run_ring(loop);
    else
        recording.run(loop);
    if (const std::string line = loop.command_end(); !line.empty()) ctx.err.line(line);
    ctx.err.flush();
    if (recording.has_failed()) return loop.exit_status(kFailed);
    return loop.exit_status(status_of(choices.strict, recording.losses()));
}

}  // namespace

int cmd_record(Context& ctx, Args args) {
    RecordOptions choices;
    std::vector<std::string> words;
    choices.command = take_command(args);
    Options options(
        "record [-e EVENT…] [--gpu] [--if EXPR] [-p PID…] [-o FILE] [-- COMMAND]",
        "Records events into a trace.dat, which gpufs report, trace-cmd, KernelShark and gpuvis\n"
        "read, until Ctrl-C, --duration or the end of COMMAND:\n"
        "    gpufs record -e sched_switch -e 'irq:*' -o boot.dat -- make\n"
        "    gpufs record --gpu --duration 10s\n"
        "    gpufs record --gpu --ring --trigger 'traceoff if error_code != 0'\n"
        "Killed, it leaves a file that can be read, with holes: 'du' says what it takes.");
    options.events(choices.request.events)
        .flag("gpu", choices.request.gpu, "all that GPU drivers tell, and which task ran")
        .condition(choices.request.condition)
        .list("trigger", "ACTION", "as in 'gpufs trigger', on these events; repeated",
              [&](const std::string& text) {
                  choices.request.triggers.push_back(parse_record_trigger(text));
              })
        .pids(choices.pids,
              "this process with its threads, or a thread, and what they start; repeated")
        .all(choices.all)
        .value("output,o", choices.file, "FILE", "where to; trace.dat by default, - is stdout")
        .value("perfetto", choices.perfetto, "FILE",
               "for ui.perfetto.dev, instead of a trace.dat; written while it runs")
        .size("max", choices.max, "end when the records take this much (500M, 2G)")
        .flag("ring", choices.ring, "keep the last records only; write at the end and at SIGUSR1")
        .size("buffer", choices.buffer, "the kernel's buffer of each CPU")
        .duration(choices.duration)
        .flag("compress", choices.compress, "compress the file at the end (version 7, zstd)")
        .strict(choices.strict)
        .json(choices.json);
    if (!options.parse(ctx, args, words)) return kOk;
    check_words(words, 0, "events go with -e, a command behind --");
    return record_events(ctx, choices);
}

}  // namespace gpufs
