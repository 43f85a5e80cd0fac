#include <algorithm>

#include "base/text.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/monitor_args.h"
#include "cmd/shared/run_loop.h"
#include "cmd/shared/run_program.h"
#include "cmd/shared/script_run.h"
#include "engine/monitor/files.h"
#include "engine/recipe/trusted_files.h"
#include "lang/ir/followed.h"
#include "lang/program/parameters.h"
#include "view/json.h"

namespace gpufs {
namespace {

// One that is shipped or the user's own; one with mistakes says so.
void print_monitor(Context& ctx, const std::string& name, std::size_t width, bool is_json) {
    JsonObject line;
    line.text("monitor", name);
    try {
        const Program program = assemble_monitor(name, AsmScope::declarations);
        if (!is_json) {
            ctx.out.write(cat(name, std::string(width + 2 - name.size(), ' '), program.summary,
                              '\n', parameters_text(program)));
            return;
        }
        JsonArray parameters;
        for (const Parameter& one : program.parameters) {
            if (one.name == kFollowing) continue;
            JsonObject parameter;
            parameter.text("name", one.name);
            if (one.type == Parameter::Type::text)
                parameter.text("default", one.text);
            else
                parameter.number("default", one.value);
            parameters.add(parameter.text_or_null("unit", one.unit).text("help", one.help).done());
        }
        line.text("summary", program.summary).raw("parameters", parameters.done()).null("mistake");
    } catch (const Error& e) {
        const std::string mistake(lines_of(e.what()).front());
        if (!is_json)
            ctx.out.line(cat(name, std::string(width + 2 - name.size(), ' '),
                             "(cannot be used: ", mistake, ")"));
        line.null("summary").null("parameters").text("mistake", mistake);
    }
    if (is_json) ctx.out.line(line.done());
}

void print_monitors(Context& ctx, bool is_json) {
    const std::vector<std::string> names = list_monitors();
    std::size_t width = 0;
    for (const std::string& name : names) width = std::max(width, name.size());
    for (const std::string& name : names) print_monitor(ctx, name, width, is_json);
}

// A script, from a file or the command line; the words behind it are its arguments.
int run_script_of(Context& ctx, const std::optional<std::string>& text, bool is_unsafe,
                  const std::vector<int>& pids, const std::vector<std::string>& words,
                  RunChoices choices) {
    ScriptChoices script;
    script.source = text ? SourceText{"-e", *text} : read_script(words[0]);
    script.arguments.assign(words.begin() + (text ? 0 : 1), words.end());
    script.is_unsafe = is_unsafe;
    script.pids = pids;
    follow_command(choices, !pids.empty());
    return run_script(ctx, script, std::move(choices));
}

}  // namespace

int cmd_run(Context& ctx, Args args) {
    RunChoices choices;
    std::vector<std::string> words;  // NAME|FILE and name=value
    std::vector<int> pids;
    const bool has_words = !args.empty();
    bool list = false, show = false, is_unsafe = false;
    std::optional<std::string> program_text;
    Options options(
        "run NAME|FILE [name=value…] [-p PID] [--if EXPR] [--duration T] [-- COMMAND]",
        "Runs a monitor: the BPF programs of a .bpf file, one that is shipped or your own. Prints\n"
        "their records as they come, and what their maps counted at the end: at Ctrl-C, after\n"
        "--duration, or with the COMMAND. Of a COMMAND it looks at what that does and all that it\n"
        "starts. Without a word it lists the monitors, as --list does.");
    add_run_options(options, choices);
    add_freeze_options(options, choices);
    options.pids(pids, "only this process (its first thread's id)")
        .value("execute,e", program_text, "PROGRAM", "a script in the bpftrace language")
        .flag("unsafe", is_unsafe, "let a script use functions that change the machine")
        .flag("list", list, "say which monitors there are, and their parameters")
        .flag("show", show, "print the text of the monitor");
    choices.command = take_command(args);
    if (!options.parse(ctx, args, words)) return kOk;
    if (list || !has_words) {
        check_words(words, 0, "--list has all monitors");
        print_monitors(ctx, choices.json);
        return kOk;
    }
    if (program_text || (!words.empty() && is_script(words[0]) && !show))
        return run_script_of(ctx, program_text, is_unsafe, pids, words, std::move(choices));
    if (words.empty())
        throw UsageError("run needs a monitor", "'gpufs run --list' has their names");
    if (show) {
        check_words(words, 1, "--show prints one monitor");
        ctx.out.write(read_monitor(words[0], read_trusted).text);
        return kOk;
    }
    Program program = assemble_monitor(words[0]);
    choices.parameters = parse_program_arguments(program, std::span(words).subspan(1));
    take_pid(program, pids, !choices.input, choices.parameters);
    follow_command(choices, choices.parameters.numbers.contains("pid"));
    if (choices.follows) look_at_followed(program);
    return run_program(ctx, std::move(program), std::move(choices));
}

}  // namespace gpufs
