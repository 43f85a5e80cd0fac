#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "cmd/run/monitor_printer.h"
#include "cmd/run/run_program.h"
#include "cmd/shared/run_loop.h"
#include "engine/monitor/replay.h"
#include "engine/recording/file.h"
#include "view/bt/script_names.h"

namespace gpufs {

// A run of a Program over a recording, in the recording's time but at full speed.
class RecordedRun {
public:
    // Keeps references to the context and the choices, which contain the file name. Throws the
    // errors of opening the recording and of Replay's constructor.
    RecordedRun(Context& ctx, Program program, const RunChoices& choices);
    RecordedRun(const RecordedRun&) = delete;
    RecordedRun& operator=(const RecordedRun&) = delete;

    // Returns the same as Command::run.
    int run();

private:
    void loop(RunLoop& loop);
    void tick(std::uint64_t moment_ns, std::uint64_t now_ns);
    int finish(const RunLoop& loop);

    Context& ctx_;
    const RunChoices& choices_;
    std::optional<TraceFile> opened_;  // where nobody else has opened it
    TraceFile& file_;
    Replay replay_;
    std::unique_ptr<ScriptNames> script_names_;  // of a script
    std::unique_ptr<RunPrinter> printer_;
    VisitRecord print_;
    std::uint64_t now_ns_ = 0;  // of the last record processed
};

}  // namespace gpufs
