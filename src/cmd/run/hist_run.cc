#include "cmd/run/hist_run.h"

#include <sys/prctl.h>

#include <array>

#include "base/clock.h"
#include "base/printable.h"
#include "cmd/run/monitor_printer.h"
#include "cmd/shared/pictures.h"
#include "cmd/shared/run_loop.h"
#include "engine/monitor/hist_latency.h"
#include "kernel/host/pid_namespace.h"
#include "view/json.h"
#include "view/monitor/live_symbols.h"

namespace gpufs {
namespace {

// This thread has another name for as long as this lives; who is forked meanwhile keeps it.
class OtherName {
public:
    explicit OtherName(const char* name) {
        ::prctl(PR_GET_NAME, before_.data());
        ::prctl(PR_SET_NAME, name);
    }
    ~OtherName() { ::prctl(PR_SET_NAME, before_.data()); }
    OtherName(const OtherName&) = delete;
    OtherName& operator=(const OtherName&) = delete;

private:
    std::array<char, 17> before_{};
};

// Below the reports.
std::string trace_text(const std::vector<std::string>& lines, const RunChoices& choices) {
    if (lines.empty()) return {};
    if (choices.json) {
        JsonArray all;
        for (const std::string& line : lines) all.add_text(line);
        return cat(JsonObject().raw("longest", all.done()).done(), '\n');
    }
    std::string text = "\nFrom its start to its end\n";
    for (const std::string& line : lines) {
        append_printable(text, line, choices.controls);
        text += '\n';
    }
    return text;
}

}  // namespace

int run_hists(Context& ctx, LatencyHists hists, const RunChoices& choices) {
    RunLoop loop(choices.duration, choices.ticks(kLiveSample));
    if (choices.follows)
        require_pids_to_follow();
    else if (!choices.pids.empty())
        require_initial_pids();
    {
        const OtherName name(HistLatency::kHeldName);
        loop.hold(choices.command, command_output(ctx.out, choices.json));
    }
    std::optional<int> followed;
    if (choices.follows) followed = loop.command()->pid();
    HistLatency latency(find_tracefs(), std::move(hists), followed);
    if (loop.is_interrupted()) return loop.exit_status(kOk);
    if (!explain(ctx, latency.shell_lines(), {}, choices)) return kOk;
    LiveSymbols symbols(latency, CodeFile::Lines::no);
    MonitorPrinter printer(ctx, latency, choices.form(), symbols.names());
    printer.begin_run(monotonic_ns());
    latency.begin();
    loop.begin();
    do {
        loop.wait();
        const std::uint64_t now_ns = monotonic_ns();
        if (!loop.is_over() && loop.tick(now_ns)) {
            if (choices.interval) {
                printer.print_interval(now_ns);
            } else {
                latency.refresh();
                printer.sample(now_ns, now_ns);
            }
        }
        printer.flush();
    } while (!loop.is_over());
    latency.end();
    printer.show_below(trace_text(latency.trace_of_longest(), choices));
    const LossLedger losses = printer.print_end(monotonic_ns(), latency.losses());
    for (const std::string& note : symbols.notes()) ctx.err.line(note);
    if (const std::string line = loop.command_end(); !line.empty()) ctx.err.line(line);
    ctx.out.flush();
    ctx.err.flush();
    return loop.exit_status(status_of(choices.strict, losses, kOk));
}

}  // namespace gpufs
