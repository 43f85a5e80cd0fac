#pragma once

#include <memory>
#include <optional>
#include <span>

#include "cmd/shared/freeze_on.h"
#include "cmd/shared/monitor_printer.h"
#include "cmd/shared/run_loop.h"
#include "cmd/shared/run_program.h"
#include "cmd/shared/top.h"
#include "engine/monitor/kernel_facts.h"
#include "engine/monitor/monitor.h"
#include "engine/monitor/reader.h"
#include "view/monitor/live_symbols.h"

namespace gpufs {

// One run of a Program on this machine: it is loaded here, and attached by run(), which prints what
// comes until the end.
class LiveRun {
public:
    // Throws what Monitor's constructor throws. Borrows context and choices.
    LiveRun(Context& ctx, Program program, const RunChoices& choices);
    LiveRun(const LiveRun&) = delete;
    LiveRun& operator=(const LiveRun&) = delete;

    // Returns what Command::run returns.
    int run();

private:
    void open();
    void loop();
    int finish();
    void take(const RecordLayout& layout, std::span<const std::byte> record);
    void drain();
    void tick();
    bool goes_on();

    Context& ctx_;
    const RunChoices& choices_;
    RunLoop loop_;  // first, because signals wait from here on
    KernelFacts machine_;
    Monitor monitor_;
    // These are there from open() on; the last two only where they were asked for.
    std::optional<MonitorReader> reader_;
    std::optional<LiveSymbols> symbols_;
    std::optional<MonitorPrinter> printer_;
    std::optional<FreezeOn> freeze_on_;
    std::optional<Top> top_;
};

}  // namespace gpufs
