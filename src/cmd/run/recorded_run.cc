#include "cmd/run/recorded_run.h"

#include "cmd/run/joint_printer.h"
#include "cmd/run/script_printer.h"
#include "view/monitor/explanation.h"
#include "view/monitor/recorded_symbols.h"

namespace gpufs {

RecordedRun::RecordedRun(Context& ctx, Program program, const RunChoices& choices)
    : ctx_(ctx),
      choices_(choices),
      file_(choices.recording ? *choices.recording : opened_.emplace(*choices.input)),
      replay_(std::move(program), choices.for_program(), file_),
      print_([this](const RecordLayout& layout, std::span<const std::byte> record) {
          printer_->print(layout, record);
      }) {
    if (choices.script) {
        script_names_ = recorded_script_names(file_.context(), replay_);
        printer_ = std::make_unique<ScriptPrinter>(ctx, replay_, *choices.script, choices.form(),
                                                   *script_names_, ScriptPrinter::Maps::read_here);
    } else if (!choices.scripts.empty()) {
        printer_ = std::make_unique<JointPrinter>(
            ctx, replay_, choices.form(), recorded_names(file_.context()), choices.scripts,
            [this](const RunningProgram& part) {
                return recorded_script_names(file_.context(), part);
            });
    } else {
        printer_ = std::make_unique<MonitorPrinter>(ctx, replay_, choices.form(),
                                                    recorded_names(file_.context()));
    }
}

int RecordedRun::run() {
    if (!explain(ctx_, explanation(replay_.sites(), replay_.prepared()), replay_.cautions(),
                 choices_))
        return kOk;
    RunLoop until(choices_.duration, choices_.ticks(kRecordedSample));
    loop(until);
    return finish(until);
}

// Ends with the recording, the duration, an exit action or a signal.
void RecordedRun::loop(RunLoop& loop) {
    constexpr std::size_t kBatch = 4096;
    // A record may bring thousands of interval runs with it.
    constexpr std::size_t kLookForSignal = 64;
    for (std::size_t count = 0; const auto now = replay_.advance(); ++count) {
        if (count == 0) {
            loop.begin(*now);
            printer_->begin_run(*now);
        }
        if (loop.time_is_over(*now)) break;
        now_ns_ = std::max(now_ns_, *now);  // a page may have a damaged time
        if (const auto moment = loop.tick(*now)) tick(*moment, *now);
        replay_.run(print_);
        if (printer_->exit_status()) break;
        if (count % kLookForSignal == 0 && loop.is_interrupted()) break;
        if (count % kBatch == 0) printer_->flush();
    }
}

void RecordedRun::tick(std::uint64_t moment_ns, std::uint64_t now_ns) {
    if (choices_.interval)
        printer_->print_interval(moment_ns);
    else
        printer_->sample(moment_ns, now_ns);
}

int RecordedRun::finish(const RunLoop& loop) {
    printer_->print_on();
    replay_.run_end(print_);
    const LossLedger losses = printer_->print_end(now_ns_, replay_.losses());
    for (const std::string& note : replay_.notes()) ctx_.err.line(note);
    ctx_.out.flush();
    ctx_.err.flush();
    return loop.exit_status(
        status_of(choices_.strict, losses, printer_->exit_status().value_or(kOk)));
}

}  // namespace gpufs
