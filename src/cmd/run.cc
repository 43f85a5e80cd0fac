#include <algorithm>

#include "cmd/command.h"
#include "cmd/live.h"
#include "cmd/monitor_words.h"
#include "cmd/options.h"
#include "cmd/run_program.h"
#include "gpufs/base/text.h"
#include "gpufs/engine/monitor_files.h"
#include "gpufs/lang/program_arguments.h"

namespace gpufs {
namespace {

void print_list(Context& ctx) {
    const std::vector<std::string> names = list_monitors();
    std::size_t width = 0;
    for (const std::string& name : names) width = std::max(width, name.size());
    for (const std::string& name : names) {
        std::string about;
        try {
            const Program program = load_program(name);
            about = program.summary + '\n' + parameters_text(program);
        } catch (const Error& e) {
            about = cat("(cannot be used: ", lines_of(e.what()).front(), ")\n");
        }
        ctx.out.write(cat(name, std::string(width + 2 - name.size(), ' '), about));
    }
}

}  // namespace

int cmd_run(Context& ctx, Args args) {
    RunChoices choices;
    std::vector<std::string> words;  // NAME|FILE and name=value
    std::vector<int> pids;
    Options options(
        "run NAME|FILE [name=value…] [-p PID] [--if EXPR] [--duration T] [-- COMMAND]",
        "Runs a monitor: the BPF programs of a .bpf file, one that is shipped or your own. Prints\n"
        "their records as they come, and what their maps counted at the end: at Ctrl-C, after\n"
        "--duration, or with the COMMAND. Without NAME lists what is shipped.");
    add_run_options(options, choices);
    add_freeze_options(options, choices);
    options.pids(pids);
    choices.command = take_command(args);
    if (!options.parse(ctx, args, words)) return kOk;
    if (words.empty()) {
        print_list(ctx);
        return kOk;
    }
    Program program = load_program(words[0]);
    choices.parameters = parse_program_arguments(program, std::span(words).subspan(1));
    take_pid(program, pids, choices.parameters);
    return run_program(ctx, std::move(program), std::move(choices));
}

}  // namespace gpufs
