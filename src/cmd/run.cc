#include <algorithm>

#include "base/text.h"
#include "cmd/run/joint_run.h"
#include "cmd/run/run_program.h"
#include "cmd/run/script_run.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/monitor_args.h"
#include "cmd/shared/recording_input.h"
#include "cmd/shared/run_loop.h"
#include "engine/places/monitor_files.h"
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
        const Program program = assemble_monitor(name, AsmScope::outline);
        if (!is_json) {
            ctx.out.write(cat(name, std::string(width + 2 - name.size(), ' '), program.summary,
                              '\n', parameters_text(program)));
            return;
        }
        JsonArray parameters;
        for (const Parameter& one : program.parameters) {
            if (!is_for_users(one)) continue;
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

// Besides the form of what is printed.
bool asks_for_more(const RunChoices& choices) {
    return !choices.command.empty() || choices.duration || choices.interval || choices.input ||
           choices.condition || choices.freeze_on || choices.dry_run || choices.explain;
}

int run_one_script(Context& ctx, ScriptChoices script, RunChoices choices) {
    script.name.clear();
    follow_command(choices, !script.pids.empty());
    choices.pids = script.pids;
    return run_script(ctx, script, std::move(choices));
}

}  // namespace

int cmd_run(Context& ctx, Args args) {
    RunChoices choices;
    std::vector<std::string> words;  // NAME|FILE and name=value
    std::vector<int> pids;
    bool list = false, show = false, is_unsafe = false;
    std::vector<std::string> texts;
    Options options(
        "run NAME|FILE… [name=value…] [-e PROGRAM] [-p PID] [--if EXPR] [-- COMMAND]",
        "Runs a monitor: the BPF programs of a .bpf file, one that is shipped or your own; or a\n"
        "script in the bpftrace language, a .bt file; or several of them together. Prints their\n"
        "records as they come, and what their maps counted at the end: at Ctrl-C, after\n"
        "--duration, or with the COMMAND. Of a COMMAND it looks at what that does and all that it\n"
        "starts. Without a word it lists the monitors, as --list does.");
    options
        .list("execute,e", "PROGRAM", "a script in the bpftrace language; repeated: others, too",
              [&texts](const std::string& text) { texts.push_back(text); })
        .flag("unsafe", is_unsafe, "let a script use functions that change the machine")
        .flag("list", list, "say which monitors there are, and their parameters")
        .flag("show", show, "print the text of the monitor")
        .pids(pids, "only this process (its first thread's id)");
    add_freeze_options(options, choices);
    add_by_option(options, choices);
    add_run_options(options, choices);
    add_histogram_options(options, choices.pictures);
    choices.command = take_command(args);
    if (!options.parse(ctx, args, words)) return kOk;
    const bool asks_nothing = words.empty() && texts.empty() && pids.empty() && !show &&
                              !is_unsafe && !asks_for_more(choices);
    if (list || asks_nothing) {
        check_words(words, 0, "--list has all monitors");
        print_monitors(ctx, choices.json);
        return kOk;
    }
    for (const std::string& word : words)
        check_is_not_input("--output", ctx.out.file(), word, "the program");
    if (show && !texts.empty()) throw UsageError("--show prints a monitor: not with -e");
    ScriptChoices common;
    common.is_unsafe = is_unsafe;
    common.pids = pids;
    const JointChoices joint = show ? JointChoices() : sort_words(texts, words, common);
    if (is_unsafe && !joint.has_scripts())
        throw UsageError("--unsafe lets a script change the machine: there is none");
    if (joint.is_one_script()) {
        if (!joint.parameters.empty())
            throw UsageError(cat("the script has no parameter for '", joint.parameters[0], '\''),
                             "its arguments are $1, $2, …; a monitor has name=value");
        return run_one_script(ctx, std::get<ScriptChoices>(joint.parts[0]), std::move(choices));
    }
    if (joint.parts.size() > 1) return run_together(ctx, joint, std::move(choices));
    if (words.empty())
        throw UsageError("run needs a monitor", "'gpufs run --list' has their names");
    if (show) {
        check_words(words, 1, "--show prints one monitor");
        ctx.out.write(read_monitor(words[0], read_trusted).text);
        return kOk;
    }
    Program program = assemble_monitor(words[0]);
    choices.parameters = parse_program_arguments(program, std::span(words).subspan(1));
    choices.followed = take_pid(program, pids, !choices.input, choices.parameters);
    choices.pids = pids;
    follow_command(choices, choices.followed != 0 || choices.parameters.numbers.contains("pid"));
    if (choices.follows) look_at_followed(program);
    return run_program(ctx, std::move(program), std::move(choices));
}

}  // namespace gpufs
