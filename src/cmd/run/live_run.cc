#include "cmd/run/live_run.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "cmd/run/joint_printer.h"
#include "cmd/run/script_printer.h"
#include "cmd/shared/error_text.h"
#include "cmd/shared/screen.h"
#include "cmd/shared/session_choice.h"
#include "engine/monitor/load_linked.h"
#include "engine/monitor/unwind_choice.h"
#include "engine/places/code_sites.h"
#include "engine/symbols/linked_files.h"
#include "kernel/host/proc_task.h"
#include "kernel/host/real_time.h"
#include "lang/ir/followed.h"
#include "lang/program/merge_programs.h"
#include "view/monitor/explanation.h"

namespace gpufs {
namespace {

constexpr const char* kPrintSignal = "SIGUSR1";

// The value of the parameter `pid`, if the program has it and it was given; else 0.
std::uint32_t wanted_process(const Program& program, const ParameterValues& given) {
    const auto pid = given.numbers.find("pid");
    const bool is_named = program.find_parameter("pid") && pid != given.numbers.end();
    return is_named ? static_cast<std::uint32_t>(pid->second) : 0;
}

// Of a process, or the thread alone.
std::vector<int> threads_of(int pid) {
    return proc::tgid(pid) == pid ? proc::threads(pid) : std::vector{pid};
}

// Empty where a script has asked them for its files itself.
std::vector<int> processes_looked_at(const Program& program, const RunChoices& choices) {
    if (!choices.all_scripts().empty()) return {};
    std::vector<int> pids = choices.pids;
    if (choices.followed != 0) pids.push_back(choices.followed);
    if (const std::uint32_t pid = wanted_process(program, choices.parameters); pid != 0)
        pids.push_back(static_cast<int>(pid));
    return pids;
}

// For a refused program, shows the relevant line of the verifier's log, or all of it with -v.
Monitor make_monitor(Program program, const RunChoices& choices, KernelFacts& machine,
                     const FollowedTasks* followed, const UserUnwinder* unwinder) try {
    Monitor::Choice choice{choices.for_program(), {}};
    if (unwinder) {
        unwind_user_stacks(program, *unwind_kernel(machine));
        choice.others = unwinder->descriptors();
    }
    if (!choices.self) choice.left_out = static_cast<std::uint32_t>(::getpid());
    choice.awaits_libraries = !choices.command.empty();
    choice.processes = processes_looked_at(program, choices);
    choice.turns = choices.interval.has_value() && !choices.script;
    if (followed) {
        choice.followed = &followed->map();
        declare_followed(program);
    }
    return {std::move(program), std::move(choice), machine};
} catch (const RefusedProgram& e) {
    const std::string whole = choices.verbose ? "" : "-v shows the verifier's whole log";
    throw RefusedProgram(e, e.hint().empty() ? whole : e.hint(),
                         choices.verbose ? e.log() : e.evidence());
}

// Null: all tasks are looked at.
std::unique_ptr<FollowedTasks> make_followed(const RunChoices& choices, KernelFacts& machine) {
    if (choices.followed == 0 && !choices.follows) return nullptr;
    return std::make_unique<FollowedTasks>(
        machine, choices.followed != 0 ? FollowedTasks::Of::process : FollowedTasks::Of::command);
}

// The program, or as much of it as can be loaded. Adds lines about the rest to `left_out`.
Monitor make_of_parts(const Program& program, const RunChoices& choices, KernelFacts& machine,
                      const FollowedTasks* followed, const UserUnwinder* unwinder,
                      std::vector<std::string>& left_out) {
    try {
        return make_monitor(program, choices, machine, followed, unwinder);
    } catch (const Error&) {
        std::vector<Program> loadable;
        for (const Program& part : choices.parts) {
            try {
                make_monitor(merge_programs({part}, MergedNames::prefixed), choices, machine,
                             followed, unwinder);
                loadable.push_back(part);
            } catch (const Error& e) {
                left_out.push_back(cat("without ", part.name, ": ", error_text(e)));
            }
        }
        if (left_out.empty() || loadable.empty()) throw;
        return make_monitor(merge_programs(std::move(loadable), MergedNames::prefixed), choices,
                            machine, followed, unwinder);
    }
}

constexpr const char* kByFramePointers = "user stacks: by frame pointers";

// `text`: how user stacks are taken, and why so.
std::unique_ptr<UserUnwinder> make_unwinder(const Program& program, const RunChoices& choices,
                                            KernelFacts& machine, std::string& text) {
    if (!has_user_stacks(program)) return nullptr;
    text = kByFramePointers;
    if (choices.unwind == Unwind::frame_pointers) return nullptr;
    const auto kernel = unwind_kernel(machine);
    std::string why;
    if (!kernel)
        why =
            "walking user stacks by unwind tables needs x86-64 and Linux 5.10, or arm64 and Linux "
            "5.15, and the kernel's BTF";
    else if (!kernel->has_callbacks && choices.unwind == Unwind::automatic)
        why = "without bpf_loop (Linux 5.17) unwind tables take seconds to load: --unwind dwarf";
    if (!why.empty()) {
        if (choices.unwind == Unwind::tables) throw UnsupportedError(why, "--unwind fp");
        text += cat("; ", why);
        return nullptr;
    }
    try {
        auto made = std::make_unique<UserUnwinder>();
        text = "user stacks: by unwind tables (.eh_frame), where a file has none by frame pointers";
        return made;
    } catch (const Error& e) {
        if (choices.unwind == Unwind::tables) throw;
        text += cat("; ", e.what());
        return nullptr;
    }
}

// The program or parts of it. Where the kernel refuses it only with the code that walks stacks by
// tables, they are taken along frame pointers: `unwinder` is null then. `text` as above.
Monitor make_either_way(Program program, const RunChoices& choices, KernelFacts& machine,
                        const FollowedTasks* followed, std::unique_ptr<UserUnwinder>& unwinder,
                        std::string& text, std::vector<std::string>& left_out) {
    if (unwinder && choices.unwind == Unwind::automatic) {
        try {
            return make_monitor(program, choices, machine, followed, unwinder.get());
        } catch (const RefusedProgram&) {
        }
        std::unique_ptr<UserUnwinder> tables = std::move(unwinder);
        const std::string by_tables = std::exchange(
            text,
            cat(kByFramePointers, "; the kernel's verifier refuses the walk by unwind tables"));
        try {
            return make_monitor(program, choices, machine, followed, nullptr);
        } catch (const RefusedProgram&) {
            if (choices.parts.empty()) throw;
            unwinder = std::move(tables);
            text = by_tables;
        }
    }
    if (!choices.parts.empty())
        return make_of_parts(program, choices, machine, followed, unwinder.get(), left_out);
    return make_monitor(std::move(program), choices, machine, followed, unwinder.get());
}

// Whether scripts look at nothing that happens on the machine, or at what is not there.
bool look_at_nothing(const RunChoices& choices, const Monitor& monitor) {
    return choices.has_only_scripts() &&
           std::ranges::all_of(monitor.sites(), [](const LoadedSite& loaded) {
               using Kind = ProbeTarget::Kind;
               const Kind kind = loaded.site.target->kind;
               return kind == Kind::begin || kind == Kind::end || kind == Kind::iter;
           });
}

}  // namespace

LiveRun::LiveRun(Context& ctx, Program program, const RunChoices& choices)
    : ctx_(ctx),
      choices_(choices),
      loop_(choices.duration, choices.ticks(kLiveSample)),
      machine_(choices.kernel ? *choices.kernel : own_machine_.emplace()),
      followed_(make_followed(choices, machine_)),
      unwinder_(make_unwinder(program, choices, machine_, unwind_text_)),
      monitor_(make_either_way(std::move(program), choices, machine_, followed_.get(), unwinder_,
                               unwind_text_, left_out_)),
      ends_at_once_(choices.command.empty() && look_at_nothing(choices, monitor_)),
      arriving_(monitor_) {}

int LiveRun::run() {
    for (const std::string& line : left_out_) ctx_.err.line(line);
    std::vector<std::string> lines = explanation(monitor_.sites(), monitor_.prepared());
    if (!unwind_text_.empty()) lines.push_back(unwind_text_);
    if (!explain(ctx_, lines, monitor_.cautions(), choices_)) return status(kOk);
    open();
    loop();
    return finish();
}

void LiveRun::open() {
    const Program& program = monitor_.program();
    if (choices_.freeze_on)
        freeze_on_.emplace(program, *choices_.freeze_on,
                           open_session({choices_.session.value_or(""), false}));
    await_signals();
    // bpftrace's users know its JSON with what its command writes between.
    const bool is_apart = choices_.json && ctx_.voice == Voice::gpufs;
    loop_.hold(choices_.command, command_output(ctx_.out, is_apart));
    if (choices_.script) loop_.end_with(choices_.pids);
    if (loop_.command() && (unwinder_ || arriving_.are_awaited()))
        command_files_ = linked_files(loop_.command()->file());
    tell_child();
    reader_.emplace(monitor_, loop_.wake_fd());
    if (followed_)
        followed_->follow(choices_.followed != 0 ? choices_.followed : loop_.command()->pid());
    if (unwinder_) open_symbols();
    if (choices_.drawn && choices_.pictures.has_timeline()) page_.emplace();
    const std::uint64_t attached_ns = monotonic_ns();
    monitor_.attach();
    if (!unwinder_) open_symbols();
    await_libraries();
    open_printer();
    printer_->begin_run(attached_ns);
    if (monitor_printer_ && choices_.gpu_use && choices_.interval && !choices_.folded) {
        const auto pid = static_cast<int>(wanted_process(program, choices_.parameters));
        gpus_.emplace(GpuSection::Choice{pid, choices_.follows ? loop_.command()->pid() : 0});
        monitor_printer_->show_gpus(*gpus_);
    }
    // Some serial lines are terminals that have no size.
    const Screen screen = screen_of(ctx_.out.fd());
    if (!choices_.top || !monitor_printer_ || choices_.json || screen.columns == 0 ||
        screen.rows == 0)
        return;
    top_.emplace(ctx_, program, *monitor_printer_, *choices_.interval);
    if (top_->key_fd() != -1) loop_.wake_for(top_->key_fd());
}

void LiveRun::open_symbols() {
    const bool has_user = std::ranges::any_of(
        choices_.all_scripts(), [](const bt::Compiled* one) { return one->has_user_addresses; });
    const auto scripts = choices_.all_scripts();
    const bool scripts_want = std::ranges::any_of(scripts, [](const auto* one) {
        return one->has_user_addresses && one->output.wants_lines();
    });
    symbols_.emplace(monitor_,
                     scripts_want     ? CodeFile::Lines::and_inlined
                     : choices_.lines ? CodeFile::Lines::yes
                                      : CodeFile::Lines::no,
                     has_user);
    const std::uint32_t pid = wanted_process(monitor_.program(), choices_.parameters);
    Symbols::Visit visit;
    if (unwinder_ || arriving_.are_awaited())
        visit = [this](const SideBandRecord& record) {
            if (unwinder_) unwinder_->take(record, symbols_->symbols().processes());
            arriving_.take(record);
        };
    symbols_->watch(pid, std::move(visit));
    for (const int fd : symbols_->fds()) loop_.wake_for(fd);
    if (!unwinder_) return;
    loop_.wake_for(unwinder_->fd());
    // Its tables take milliseconds, in which it would be done.
    for (const std::string& file : command_files_) unwinder_->know_file(file, symbols_->symbols());
    // Of the others those that use the libraries that probes are in; else when the first stack is
    // taken.
    if (pid != 0) unwinder_->know(pid, symbols_->symbols());
    for (const int one : choices_.pids)
        unwinder_->know(static_cast<std::uint32_t>(proc::tgid(one)), symbols_->symbols());
    const bool is_for_all = pid == 0 && choices_.pids.empty() && !followed_;
    if (!is_for_all || !takes_stacks(monitor_.program(), choices_.parameters)) return;
    for (const int one : arriving_.processes())
        unwinder_->know(static_cast<std::uint32_t>(one), symbols_->symbols());
}

void LiveRun::await_libraries() {
    if (!arriving_.are_awaited()) return;
    if (const std::string& why = symbols_->why_not_watched(); !why.empty())
        ctx_.err.line(cat("libraries that are loaded from now on are not seen: ", why));
    arriving_.look_around();
    for (const std::string& file : command_files_) arriving_.expect(file);
    attach_to_arrived();
}

// Libraries that processes loaded since.
void LiveRun::attach_to_arrived() {
    for (const std::string& refusal : arriving_.attach()) ctx_.err.line(refusal);
}

// A script's `cpid`.
void LiveRun::tell_child() {
    if (!loop_.command()) return;
    const std::uint32_t index = 0;
    const auto pid = static_cast<std::uint64_t>(loop_.command()->pid());
    for (const bt::Compiled* one : choices_.all_scripts()) {
        ProgramMap* const child = choices_.script
                                      ? monitor_.map(bt::kChildMap)
                                      : RunningPart(monitor_, one->program).map(bt::kChildMap);
        if (child) child->update(bytes_of(index), bytes_of(pid));
    }
}

void LiveRun::open_printer() {
    if (choices_.script) {
        script_names_ = live_script_names(symbols_->symbols(), monitor_);
        auto script =
            std::make_unique<ScriptPrinter>(ctx_, monitor_, *choices_.script, choices_.form(),
                                            *script_names_, ScriptPrinter::Maps::read_here);
        script->stop_commands_when([this] { return loop_.is_interrupted(); });
        printer_ = std::move(script);
        return;
    }
    ValueNames names = symbols_->names(choices_.probe_frames ? LiveSymbols::ProbeFrames::shown
                                                             : LiveSymbols::ProbeFrames::left_out);
    if (!choices_.scripts.empty()) {
        auto joint =
            std::make_unique<JointPrinter>(ctx_, monitor_, choices_.form(), std::move(names),
                                           choices_.scripts, [this](const RunningProgram& part) {
                                               return live_script_names(symbols_->symbols(), part);
                                           });
        joint->stop_commands_when([this] { return loop_.is_interrupted(); });
        monitor_printer_ = &joint->monitors();
        printer_ = std::move(joint);
        return;
    }
    auto made = std::make_unique<MonitorPrinter>(ctx_, monitor_, choices_.form(), std::move(names));
    monitor_printer_ = made.get();
    printer_ = std::move(made);
}

void LiveRun::count_switches() {
    for (const int pid : choices_.pids)
        for (const int tid : threads_of(pid))
            if (const auto switches = proc::switches(tid)) switches_[tid] = *switches;
}

// The part up to the end is the last interval, printed by finish(), whether a tick is due or not.
void LiveRun::loop() {
    // Else a busy machine would make the intervals longer, a ring would be full before its turn,
    // and COMMAND would be done before its stacks can be walked.
    std::optional<RealTime> first;
    if (choices_.interval || reader_->has_rings() || (unwinder_ && loop_.command()))
        first.emplace();
    count_switches();
    loop_.begin();
    iterate();
    for (;;) {
        if (!ends_at_once_) reader_->wait(loop_.left());
        printer_->begin_batch();
        symbols_->drain();
        attach_to_arrived();
        if (unwinder_) unwinder_->work(symbols_->symbols(), [this] { return loop_.is_over(); });
        handle_signals();
        reader_->drain(take_);
        if (page_) page_->take();
        const bool is_over = !goes_on();
        if (!is_over && loop_.tick(monotonic_ns())) tick();
        printer_->flush();
        if (is_over) return;
    }
}

// The records of some objects at a time, as the ring has room for so many.
void LiveRun::iterate() {
    while (monitor_.step_iterators()) {
        printer_->begin_batch();
        symbols_->drain();
        reader_->drain(take_);
        printer_->flush();
        if (loop_.is_over() || printer_->exit_status()) return;
    }
}

void LiveRun::take(const RecordLayout& layout, std::span<const std::byte> record) {
    if (freeze_on_) freeze_on_->look_at(layout, record);
    if (layout.is_for_freeze()) return;
    if (top_)
        printer_->pass(layout, record);
    else
        printer_->print(layout, record);
}

// Those that programs are for; a script prints its maps at SIGUSR1, where it has nothing else to do
// then.
void LiveRun::await_signals() {
    std::set<std::string> names = monitor_.signals();
    if (!choices_.all_scripts().empty()) names.insert(kPrintSignal);
    for (const std::string& name : names) {
        const auto number = find_user_signal(name);
        if (!number)
            throw UsageError(cat("there are no probes of the signal '", name, "'"),
                             "SIGUSR1 and SIGUSR2 have some");
        signals_.emplace_back(name, AwaitedSignal(*number));
        loop_.wake_for(signals_.back().second.fd());
    }
}

void LiveRun::handle_signals() {
    const std::set<std::string> own = monitor_.signals();
    for (auto& [name, signal] : signals_) {
        if (!signal.take()) continue;
        if (own.contains(name))
            monitor_.run_signal(name);
        else
            printer_->print_interval(monotonic_ns());
    }
}

void LiveRun::tick() {
    const std::uint64_t now_ns = monotonic_ns();
    if (top_)
        top_->tick(now_ns);
    else if (choices_.interval)
        printer_->print_interval(now_ns);
    else
        printer_->sample(now_ns, now_ns);
}

bool LiveRun::goes_on() {
    if (top_ && !top_->handle_keys()) return false;
    if (ends_at_once_) return false;
    return !loop_.is_over() && !printer_->exit_status() && !(freeze_on_ && freeze_on_->is_frozen());
}

void LiveRun::finish_page() {
    Fd kept = page_->finish();
    choices_.drawn->set_recording(page_->path(), std::move(kept));
    if (!page_->is_cut()) return;
    constexpr std::string_view kWhat =
        "the disk of temporary files was full: the timeline ends before the run does";
    choices_.drawn->add_note(std::string(kWhat));
    ctx_.err.line(cat("gpufs: ", kWhat));
    ctx_.err.line("hint: TMPDIR names the folder of temporary files");
}

int LiveRun::finish() {
    monitor_.stop();
    top_.reset();
    if (page_) finish_page();
    monitor_.run_end();
    printer_->print_on();
    reader_->drain_rest(take_);
    printer_->flush();
    if (freeze_on_ && choices_.json) ctx_.out.line(freeze_on_->end_json());
    LossLedger known = reader_->losses();
    if (followed_) known.add(followed_->missed());
    if (unwinder_) known.add(unwinder_->refused());
    const LossLedger losses = printer_->print_end(monotonic_ns(), std::move(known));
    for (const std::string& pattern : arriving_.missing())
        ctx_.err.line(cat("no process loaded a library '", pattern, "'"));
    std::vector<std::string> notes = symbols_->notes();
    if (choices_.is_adhoc && monitor_printer_ && monitor_printer_->is_empty())
        for (const LoadedSite& one : monitor_.sites()) note_inlined(one.site, notes);
    for (const std::string& note : notes) ctx_.err.line(note);
    if (const std::string note = gpus_ ? gpus_->note() : ""; !note.empty()) ctx_.err.line(note);
    if (freeze_on_) ctx_.err.line(freeze_on_->end_text());
    if (monitor_printer_ && monitor_printer_->is_empty() && choices_.all_scripts().empty())
        tell_who_is_blocked();
    monitor_.detach();
    if (const std::string line = loop_.command_end(); !line.empty()) ctx_.err.line(line);
    ctx_.out.flush();
    ctx_.err.flush();
    return loop_.exit_status(
        status(status_of(choices_.strict, losses, printer_->exit_status().value_or(kOk))));
}

// Who does nothing has no events. Who left no CPU since the begin and is on none did nothing.
void LiveRun::tell_who_is_blocked() {
    for (const int pid : choices_.pids) {
        const std::vector<int> threads = threads_of(pid);
        const auto is_blocked = [&](int tid) {
            const auto stat = proc::stat(tid);
            const auto before = switches_.find(tid);
            return stat && std::string_view("SDTt").find(stat->state) != std::string_view::npos &&
                   before != switches_.end() && proc::switches(tid) == before->second;
        };
        if (threads.empty() || !std::ranges::all_of(threads, is_blocked)) continue;
        const std::string who =
            threads.size() == 1 ? cat(pid, " is blocked")
                                : cat("all ", threads.size(), " threads of ", pid, " are blocked");
        ctx_.err.line(cat("hint: ", who, "; 'gpufs watch --why -p ", pid, "' tells where"));
    }
}

int LiveRun::status(int status) const {
    return status == kOk && !left_out_.empty() ? kFailed : status;
}

}  // namespace gpufs
