#include "cmd/run/why_run.h"

#include <functional>
#include <map>
#include <optional>
#include <set>

#include "base/clock.h"
#include "base/error.h"
#include "base/kernel_abi.h"
#include "base/path.h"
#include "cmd/shared/run_loop.h"
#include "engine/monitor/load_linked.h"
#include "engine/monitor/monitor.h"
#include "engine/monitor/replay.h"
#include "engine/places/monitor_files.h"
#include "engine/recording/file.h"
#include "engine/results/lost_counters.h"
#include "engine/why/accounts.h"
#include "kernel/host/proc_task.h"
#include "view/losses.h"
#include "view/monitor/explanation.h"
#include "view/monitor/live_symbols.h"
#include "view/monitor/recorded_symbols.h"
#include "view/why/time_text.h"

namespace gpufs {
namespace {

constexpr std::string_view kText = "lib/why.bpf";

using NameOfProcess = std::function<std::string(int pid)>;

// Tells what the accounts took, with the times between which they did.
class WhyPrinter {
public:
    // `name`: of processes whose accounts have none.
    WhyPrinter(Context& ctx, const RunChoices& choices, TimeAccounts& accounts, ValueNames names,
               NameOfProcess name = {})
        : ctx_(ctx),
          choices_(choices),
          accounts_(accounts),
          name_(std::move(name)),
          names_(std::move(names)),
          times_(names_, choices.controls) {}

    void begin(std::uint64_t now_ns) { from_ns_ = now_ns; }

    void print(std::uint64_t now_ns) {
        std::vector<TimeAccount> all = accounts_.take();
        const std::uint64_t during_ns = now_ns - from_ns_;
        times_.look_at_clock();
        if (choices_.interval) print_times(now_ns);
        from_ns_ = now_ns;
        for (TimeAccount& account : all) {
            if (account.threads == 0 && account.parts.empty()) continue;
            seen_.insert(account.pid);
            if (account.comm.empty() && name_) account.comm = name_(account.pid);
            const std::vector<TimeRow> rows = time_rows(account, names_);
            if (choices_.json)
                ctx_.out.line(time_json(account, rows, during_ns));
            else
                ctx_.out.write(time_text(account, rows, during_ns, choices_.controls));
        }
        ctx_.out.flush();
    }

    // Of the processes asked for, those that never had a thread.
    std::set<int> missing(const std::vector<int>& pids) const {
        std::set<int> left(pids.begin(), pids.end());
        for (const int pid : seen_) left.erase(pid);
        return left;
    }

    void print_losses(const LossLedger& losses) {
        if (choices_.json)
            ctx_.out.line(run_end_json(0, losses, {}));
        else
            ctx_.err.line(losses_text(losses));
    }

private:
    void print_times(std::uint64_t now_ns) {
        if (choices_.json) {
            JsonObject times;
            times.raw("from", times_.json_time(from_ns_)).raw("to", times_.json_time(now_ns));
            ctx_.out.line(JsonObject().raw("interval", times.done()).done());
            return;
        }
        std::string line(is_first_ ? "" : "\n");
        is_first_ = false;
        times_.time(line, from_ns_);
        line += " to ";
        times_.time(line, now_ns);
        ctx_.out.line(line);
    }

    Context& ctx_;
    const RunChoices& choices_;
    TimeAccounts& accounts_;
    NameOfProcess name_;
    ValueNames names_;
    ValueWriter times_;
    std::set<int> seen_;
    std::uint64_t from_ns_ = 0;
    bool is_first_ = true;
};

PreparedProgram::Choice choice_for(const RunChoices& choices) {
    PreparedProgram::Choice choice;
    choice.parameters.numbers["children"] = !choices.command.empty();
    return choice;
}

Monitor make_why_monitor(const RunChoices& choices, KernelFacts& machine) try {
    Monitor::Choice choice{choice_for(choices), {}};
    choice.turns = true;
    return {assemble_shipped(kText), std::move(choice), machine};
} catch (const RefusedProgram& e) {
    throw Error(e.what(), choices.verbose ? "" : "-v shows the verifier's whole log",
                choices.verbose ? e.log() : e.evidence());
}

// Ends with the run, and with the last thread that is watched.
void tell_until_over(RunLoop& loop, TimeAccounts& accounts, WhyPrinter& printer) {
    constexpr auto kLook = std::chrono::milliseconds(200);
    for (;;) {
        loop.wait(kLook);
        if (loop.is_over()) return;
        if (!loop.command() && !accounts.has_threads()) return;
        if (!loop.tick(monotonic_ns())) continue;
        accounts.add_under_way();
        printer.print(monotonic_ns());
    }
}

// Their names, by pid.
std::map<int, std::string> find_processes(const std::vector<int>& pids) {
    std::map<int, std::string> found;
    for (const int pid : pids) {
        found[pid] = proc::comm(pid);
        if (const int process = proc::require_tgid(pid); process != pid)
            throw UsageError(cat(pid, " is a thread of process ", process),
                             cat("--why tells of whole processes: -p ", process));
    }
    return found;
}

// As it will be called: "cc1plus" of "/usr/lib/cc1plus".
std::string name_of(const HeldCommand& command) {
    return std::string(file_name(command.name()).substr(0, kCommBytes - 1));
}

int run_live(Context& ctx, const std::vector<int>& pids, const RunChoices& choices) {
    const std::map<int, std::string> processes = find_processes(pids);
    RunLoop loop(choices.duration, choices.interval);  // first, because it blocks signals
    KernelFacts machine;
    Monitor monitor = make_why_monitor(choices, machine);
    if (!explain(ctx, explanation(monitor.sites(), monitor.prepared()), monitor.cautions(),
                 choices))
        return kOk;
    loop.hold(choices.command, command_output(ctx.out, choices.json));
    TimeAccounts accounts(monitor);
    LiveSymbols symbols(monitor, CodeFile::Lines::no);
    WhyPrinter printer(ctx, choices, accounts, symbols.names());
    monitor.attach();
    if (loop.command()) accounts.watch_command(loop.command()->pid(), name_of(*loop.command()));
    printer.begin(monotonic_ns());
    for (const auto& [pid, comm] : processes) accounts.watch(pid, comm);
    loop.begin();
    tell_until_over(loop, accounts, printer);
    monitor.detach();
    accounts.add_under_way();
    printer.print(monotonic_ns());
    const LossLedger losses = read_losses(monitor.missed(), monitor, accounts.maps());
    printer.print_losses(losses);
    for (const std::string& note : symbols.notes()) ctx.err.line(note);
    if (const std::string line = loop.command_end(); !line.empty()) ctx.err.line(line);
    const std::set<int> missing = printer.missing(pids);
    for (const int pid : missing) ctx.err.line(cat(pid, " ended before it could be watched"));
    return loop.exit_status(missing.empty() ? status_of(choices.strict, losses) : kFailed);
}

int run_recorded(Context& ctx, const std::vector<int>& pids, const RunChoices& choices) {
    TraceFile file(*choices.input);
    Replay replay(assemble_shipped(kText), choice_for(choices), file);
    if (!explain(ctx, explanation(replay.sites(), replay.prepared()), replay.cautions(), choices))
        return kOk;
    TimeAccounts accounts(replay);
    // A recording may tell names anywhere.
    WhyPrinter printer(ctx, choices, accounts, recorded_names(file.context()),
                       [&](int pid) { return std::string(file.context().tasks.comm(pid)); });
    for (const int pid : pids) accounts.watch_recorded(pid);
    RunLoop loop(choices.duration, choices.interval);
    const VisitRecord ignore = [](const RecordLayout&, std::span<const std::byte>) {};
    std::optional<std::uint64_t> last;
    while (const auto now = replay.advance()) {
        if (!last) {
            loop.begin(*now);
            printer.begin(*now);
        }
        if (loop.time_is_over(*now) || loop.is_interrupted()) break;
        if (loop.tick(*now)) {
            accounts.add_under_way();
            printer.print(last.value_or(*now));
        }
        last = now;
        replay.run(ignore);
    }
    accounts.add_under_way();
    printer.print(last.value_or(0));
    LossLedger losses = read_losses(replay.losses(), replay, accounts.maps());
    printer.print_losses(losses);
    for (const int pid : printer.missing(pids))
        ctx.err.line(cat("no record here is of process ", pid));
    for (const std::string& note : replay.recording_notes()) ctx.err.line(note);
    return loop.exit_status(status_of(choices.strict, losses));
}

}  // namespace

int run_why(Context& ctx, const std::vector<int>& pids, const RunChoices& choices) {
    const int ways = !pids.empty() + !choices.command.empty();
    if (ways == 0) throw UsageError("--why needs processes to tell of", "-p PID, or -- COMMAND");
    if (ways > 1) throw UsageError("-p does not go with a COMMAND");
    if (choices.input && !choices.command.empty())
        throw UsageError("-i reads what was recorded: there is no COMMAND to run");
    return choices.input ? run_recorded(ctx, pids, choices) : run_live(ctx, pids, choices);
}

}  // namespace gpufs
