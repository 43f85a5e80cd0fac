#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/signals.h"
#include "cmd/run/freeze_on.h"
#include "cmd/run/gpu_section.h"
#include "cmd/run/monitor_printer.h"
#include "cmd/run/page_recording.h"
#include "cmd/run/run_program.h"
#include "cmd/run/top.h"
#include "cmd/shared/run_loop.h"
#include "engine/monitor/arriving_libraries.h"
#include "engine/monitor/followed_tasks.h"
#include "engine/monitor/monitor.h"
#include "engine/monitor/reader.h"
#include "engine/places/kernel_facts.h"
#include "engine/unwind/user_unwinder.h"
#include "view/bt/script_names.h"
#include "view/monitor/live_symbols.h"

namespace gpufs {

// A run of a Program on this machine. The constructor loads it; run() attaches it and prints its
// output until the end. See RunChoices::parts.
class LiveRun {
public:
    // Keeps references to the context and the choices. Throws the errors of Monitor's constructor.
    LiveRun(Context& ctx, Program program, const RunChoices& choices);
    LiveRun(const LiveRun&) = delete;
    LiveRun& operator=(const LiveRun&) = delete;

    // Returns the same as Command::run.
    int run();

private:
    void open();
    void open_symbols();
    void open_printer();
    void await_libraries();
    void attach_to_arrived();
    void tell_child();
    void loop();
    void iterate();
    void finish_page();
    void count_switches();
    void tell_who_is_blocked();
    int finish();
    void take(const RecordLayout& layout, std::span<const std::byte> record);
    void tick();
    void await_signals();
    void handle_signals();
    bool goes_on();
    int status(int status) const;

    Context& ctx_;
    const RunChoices& choices_;
    RunLoop loop_;  // first, because it blocks signals
    std::optional<KernelFacts> own_machine_;
    KernelFacts& machine_;
    std::unique_ptr<FollowedTasks> followed_;  // null: all tasks are looked at
    std::string unwind_text_;                  // for --explain; empty: there are no user stacks
    std::unique_ptr<UserUnwinder> unwinder_;   // null: user stacks are taken by frame pointers
    std::vector<std::string> left_out_;        // why parts of the program are left out
    Monitor monitor_;
    bool ends_at_once_;  // when its programs have run, but for `end`
    ArrivingLibraries arriving_;
    // Set by open(); the last three only if requested.
    std::vector<std::string> command_files_;  // whose code COMMAND will have mapped
    std::vector<std::pair<std::string, AwaitedSignal>> signals_;
    std::optional<MonitorReader> reader_;
    std::optional<LiveSymbols> symbols_;
    std::unique_ptr<ScriptNames> script_names_;
    std::unique_ptr<RunPrinter> printer_;
    MonitorPrinter* monitor_printer_ = nullptr;  // the same, or a part; null for a script alone
    std::optional<FreezeOn> freeze_on_;
    std::optional<GpuSection> gpus_;
    std::optional<Top> top_;
    std::map<int, std::uint64_t> switches_;  // of the threads looked at, when the run began
    std::optional<PageRecording> page_;
    const VisitRecord take_ = [this](const RecordLayout& layout,
                                     std::span<const std::byte> record) { take(layout, record); };
};

}  // namespace gpufs
