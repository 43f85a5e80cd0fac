#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "cmd/run/gpu_section.h"
#include "cmd/run/joint_run.h"
#include "cmd/run/run_program.h"
#include "cmd/run/why_run.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/run_loop.h"
#include "engine/gpu/clients.h"
#include "engine/gpu/names.h"
#include "engine/monitor/gpu_monitors.h"
#include "engine/places/kernel_facts.h"
#include "engine/recording/file.h"
#include "view/gpu/gpu_text.h"
#include "view/json.h"

namespace gpufs {
namespace {

// A line for each GPU, and the GPUs.
std::vector<Gpu> print_gpus(Context& ctx, Output& out, bool json) {
    std::vector<Gpu> gpus = find_named_gpus();
    if (gpus.empty()) return gpus;
    const GpuClients clients = read_gpu_clients(gpus);
    for (std::size_t i = 0; i < gpus.size(); ++i) {
        out.line(json ? gpu_json(gpus[i], clients.holders[i])
                      : gpu_text(gpus[i], clients.holders[i]));
        if (const std::string note = json ? "" : gpu_note(gpus[i]); !note.empty()) out.line(note);
    }
    if (const std::string note = unreadable_text(clients.unreadable); !note.empty())
        ctx.err.line(note);
    return gpus;
}

void print_list(Context& ctx, const RunChoices& choices, KernelFacts& kernel) {
    if (!choices.input) {
        const std::vector<Gpu> gpus = print_gpus(ctx, ctx.out, choices.json);
        if (gpus.empty() && !choices.json) ctx.out.line("no GPU");
    }
    std::vector<GpuMonitor> monitors = find_gpu_monitors(kernel);
    if (choices.recording)
        try_gpu_monitors(monitors, *choices.recording);
    else
        try_gpu_monitors(monitors, kernel);
    std::size_t width = 0;
    for (const GpuMonitor& one : monitors) width = std::max(width, one.program.name.size());
    for (const GpuMonitor& one : monitors) {
        if (choices.json) {
            JsonObject line;
            line.text("monitor", one.program.name).text("summary", one.program.summary);
            line.text("answer", one.fits() ? "yes" : "no")
                .text_or_null("detail", one.why_not)
                .text_or_null("fix", one.hint);
            ctx.out.line(line.done());
            continue;
        }
        const std::string indent(5 + width + 2, ' ');
        ctx.out.line(cat(one.fits() ? "yes  " : "no   ", one.program.name,
                         std::string(width + 2 - one.program.name.size(), ' '),
                         one.program.summary));
        if (one.fits()) continue;
        ctx.out.line(cat(indent, one.why_not));
        if (!one.hint.empty()) ctx.out.line(cat(indent, "fix: ", one.hint));
    }
}

// Nobody misses the monitor of a driver or a library that is not here.
bool is_missed(const GpuMonitor& monitor, const std::vector<Gpu>& gpus) {
    if (monitor.is_refused) return true;
    if (monitor.needs_library()) return false;
    return monitor.driver().empty() || std::ranges::count(gpus, monitor.driver(), &Gpu::driver) > 0;
}

// What fits, where the user named nothing; says what that is.
std::vector<Program> choose(Context& ctx, const RunChoices& choices, KernelFacts& kernel) {
    std::vector<Gpu> gpus;  // none are known of a recording
    if (!choices.input) {
        gpus = print_gpus(ctx, ctx.err, false);
        if (std::ranges::all_of(gpus, [](const Gpu& gpu) { return gpu.driver.empty(); }))
            throw UnsupportedError("no GPU with a driver was found",
                                   "'gpufs watch --list' says which monitors would run; "
                                   "'gpufs watch fence' runs one, -i FILE reads a recording");
    }
    std::vector<GpuMonitor> monitors = find_gpu_monitors(kernel);
    if (choices.recording) try_gpu_monitors(monitors, *choices.recording);
    // The monitors of DRM would see nothing of these GPUs.
    const bool is_without_drm = !choices.input && std::ranges::none_of(gpus, &Gpu::has_drm_node);
    std::vector<Program> chosen;
    for (GpuMonitor& one : monitors) {
        if (is_without_drm && one.is_about_drm()) continue;
        if (one.fits())
            chosen.push_back(std::move(one.program));
        else if (is_missed(one, gpus))
            ctx.err.line(cat("without ", one.program.name, ": ", one.why_not));
    }
    if (chosen.empty())
        throw UnsupportedError(
            choices.input ? "no GPU monitor can run over this recording" : "no GPU monitor can run",
            cat("'gpufs watch --list",
                choices.input ? cat(" -i ", shell_quote(*choices.input)) : "", "' says why"));
    return chosen;
}

// It is one program with a printer of its own.
void check_why(const RunChoices& choices, const std::vector<std::string>& words, bool list) {
    check_words(words, 0, "--why takes no monitor: it looks at processes, -p PID or -- COMMAND");
    const char* const other = first_given({
        {"--list", list},
        {"--top", choices.top},
        {"--if", choices.condition.has_value()},
        {"--folded", choices.folded},
        {"--by", choices.by_stack},
        {"--flame", choices.pictures.flame.has_value()},
        {"--heat", choices.pictures.heat.has_value()},
        {"--html", choices.pictures.html.has_value()},
        {"--perfetto", choices.pictures.perfetto.has_value()},
        {"--plot", choices.pictures.is_plotted},
        {"--reverse", choices.pictures.is_reversed},
        {"--icicle", choices.pictures.is_icicle},
        {"--title", choices.pictures.title.has_value()},
        {"--lines", choices.lines},
        {"--all", choices.all},
        {"--freeze-on", choices.freeze_on.has_value()},
        {"--session", choices.session.has_value()},
        {"--probe-frames", choices.probe_frames},
        {"--self", choices.self},
    });
    if (other) throw UsageError(cat("--why does not go with ", other));
}

}  // namespace

int cmd_watch(Context& ctx, Args args) {
    RunChoices choices;
    std::vector<std::string> words;
    std::vector<int> pids;
    bool list = false, why = false;
    Options options(
        "watch [MONITOR…] [name=value…] [-p PID] [--if EXPR] [--top] [-i FILE] [-- COMMAND]",
        "Watches what GPUs do: runs the monitors named, or those that fit the drivers of this\n"
        "machine, in one process and on one timeline. Prints what they tell as it happens, and\n"
        "what they counted at the end: at Ctrl-C, after --duration, or with the COMMAND.");
    options.pids(pids, "only this process (its first thread's id)")
        .flag("top", choices.top,
              "a full screen, refreshed each --interval (default: 1s), on a terminal")
        .flag("why", why, "say where the time of -p PID or of the COMMAND goes, in a few lines")
        .flag("list", list, "say which monitors there are, which can run here, what others lack");
    add_freeze_options(options, choices);
    add_by_option(options, choices);
    add_timeline_options(options, choices.pictures);
    add_run_options(options, choices);
    add_histogram_options(options, choices.pictures);
    choices.command = take_command(args);
    choices.gpu_use = true;
    if (!options.parse(ctx, args, words)) return kOk;
    if (list) check_words(words, 0, "--list looks at all GPU monitors");
    if (why) {
        check_why(choices, words, list);
        return run_why(ctx, pids, choices);
    }
    ScriptChoices common;
    common.pids = pids;
    const JointChoices joint = sort_words({}, words, common);
    if (!joint.parts.empty()) return run_together(ctx, joint, std::move(choices));
    std::optional<TraceFile> recording;
    if (choices.input) choices.recording = &recording.emplace(*choices.input);
    KernelFacts kernel = recording ? KernelFacts(recording->context().events) : KernelFacts();
    if (list) {
        print_list(ctx, choices, kernel);
        return kOk;
    }
    std::vector<Program> programs = choose(ctx, choices, kernel);
    return run_merged(ctx, std::move(programs), joint, std::move(choices));
}

}  // namespace gpufs
