#include <algorithm>

#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/run_loop.h"
#include "cmd/show/buffer.h"
#include "cmd/show/longest.h"
#include "engine/recipe/files.h"
#include "engine/recipe/run.h"
#include "engine/session/stale.h"
#include "view/duration.h"
#include "view/json.h"
#include "view/losses.h"

namespace gpufs {
namespace {

struct RecipeOptions {
    std::vector<std::string> words;    // NAME|FILE and key=value
    std::vector<std::string> command;  // after --
    std::vector<int> pids;
    std::optional<std::chrono::nanoseconds> duration;
    std::optional<std::string> session;
    Controls controls = Controls::escaped;
    bool keep = false, dry_run = false, json = false;

    bool keeps() const { return keep || session; }
    // Whether an option was given that only `recipe run` takes.
    bool has_run_options() const {
        return !command.empty() || !pids.empty() || duration || keeps() || dry_run;
    }
};

// Why a run ended, and when.
struct EndOfRun {
    enum class Why {
        signal,   // a stop signal was received
        time,     // the duration has elapsed
        stopped,  // a trigger stopped the buffer
        over,     // a pair exceeded its limit, and gpufs stopped the buffer
        command,  // the command ended
    };
    Why why = Why::time;
    std::chrono::nanoseconds lasted{};
    PairWatch::Over over;  // the pair, for Why::over
};

std::string in_words(std::chrono::nanoseconds time) {
    return duration_text(static_cast<std::uint64_t>(time.count()));
}

// --- list ---------------------------------------------------------------------------------------

struct Listing {
    std::string question, answer;  // "yes", "no", "could not tell", "refused", "wrong"
    std::vector<std::string> reasons;
};

Listing look_at(const RecipeFile& file, const std::optional<Tracefs>& top) {
    Listing listing;
    if (!file.refusal.empty()) return {"", "refused", {file.refusal}};
    try {
        const Recipe recipe = parse_recipe(load_recipe(file.path.empty() ? file.name : file.path));
        listing.question = recipe.question;
        const Recipe filled = fill_in(recipe, stand_in_arguments(recipe));
        if (!top) {
            listing.answer = "could not tell";
            return listing;
        }
        listing.reasons = missing_for(*top, filled);
        listing.answer = listing.reasons.empty() ? "yes" : "no";
    } catch (const UsageError& e) {
        listing.answer = "wrong";
        listing.reasons.assign(1, e.what());
    } catch (const Error& e) {
        listing.answer = "could not tell";
        listing.reasons.assign(1, e.what());
    }
    return listing;
}

int print_recipes(Context& ctx, const RecipeOptions& choices) {
    if (choices.has_run_options()) throw UsageError("'recipe list' takes --json, nothing else");
    check_words(choices.words, 0);
    std::optional<Tracefs> top;
    try {
        top = find_tracefs();
    } catch (const UnsupportedError& e) {
        ctx.err.line(cat("gpufs: cannot ask this kernel: ", e.what()));
    }
    const auto files = list_recipes();
    std::size_t width = 0;
    for (const RecipeFile& file : files) width = std::max(width, file.name.size());
    for (const RecipeFile& file : files) {
        const Listing listing = look_at(file, top);
        if (choices.json) {
            JsonArray reasons;
            for (const std::string& reason : listing.reasons) reasons.add_text(reason);
            JsonObject line;
            line.text("recipe", file.name).text("question", listing.question);
            line.text("answer", listing.answer).raw("reasons", reasons.done());
            line.text_or_null("file", file.path);
            ctx.out.line(line.done());
            continue;
        }
        const std::string answer = listing.answer == "could not tell" ? "?" : listing.answer;
        const std::string indent(9 + width + 2, ' ');
        ctx.out.line(
            printable(cat(answer, std::string(9 - answer.size(), ' '), file.name,
                          std::string(width - file.name.size() + 2, ' '), listing.question)));
        for (const std::string& reason : listing.reasons)
            for (const std::string_view line : lines_of(reason))
                ctx.out.line(
                    printable(cat(indent, listing.answer == "no" ? "missing: " : "", line)));
    }
    return kOk;
}

// --- show ---------------------------------------------------------------------------------------

int print_recipe_text(Context& ctx, const RecipeOptions& choices) {
    if (choices.has_run_options() || choices.json)
        throw UsageError("'recipe show' takes a recipe, nothing else");
    if (choices.words.empty())
        throw UsageError("no recipe given", "'gpufs recipe list' shows them");
    check_words(choices.words, 1, "'gpufs recipe list' shows them");
    ctx.out.write(load_recipe(choices.words[0]).text);
    return kOk;
}

// --- run ----------------------------------------------------------------------------------------

RecipeArguments arguments_of(const Recipe& recipe, const RecipeOptions& choices) {
    RecipeArguments arguments;
    for (std::size_t i = 1; i < choices.words.size(); ++i) {
        const std::string& word = choices.words[i];
        const auto equals = word.find('=');
        if (equals == word.npos || equals == 0)
            throw UsageError(cat("'", word, "' is not NAME=VALUE"),
                             "a parameter is given as over=5ms, a command behind --");
        const std::string name = word.substr(0, equals);
        if (!arguments.emplace(name, word.substr(equals + 1)).second)
            throw UsageError(cat(name, " is given twice"));
    }
    const RecipeParameter* pid = recipe.pid_parameter();
    if (!choices.pids.empty()) {
        if (!pid)
            throw UsageError(cat("recipe '", recipe.name.text,
                                 "' watches the whole machine: -p has nothing to narrow"));
        std::vector<std::string> pids;
        for (const int task : choices.pids) pids.push_back(cat(task));
        if (!arguments.emplace(pid->name.text, join(pids, ",")).second)
            throw UsageError(cat("-p and ", pid->name.text, "= say the same: give one"));
    }
    if (!pid) return arguments;
    const auto given = arguments.find(pid->name.text);
    if (given != arguments.end()) given->second = threads_of(given->second);
    return arguments;
}

// `status`: the settings while the recipe was running.
void show_results(Context& ctx, const Recipe& recipe, const RecipeRun& run,
                  const std::vector<std::string>& status, const ShowForm& form) {
    std::vector<RecordPairs::Wanted> longest;
    for (const RecipeShow& show : recipe.shows) {
        switch (show.what) {
            case RecipeShow::What::all:
                print_or_consume_buffer(ctx, run.session(), {.form = form});
                break;
            case RecipeShow::What::last:
                print_or_consume_buffer(ctx, run.session(), {.last = show.most, .form = form});
                break;
            case RecipeShow::What::longest:
                longest.push_back(pairs_wanted(show.pairs, run.session(), show.most));
                break;
            case RecipeShow::What::status:
                for (const std::string& command : status)
                    ctx.out.line(form.json ? JsonObject().text("command", command).done()
                                           : printable(command, form.controls));
        }
    }
    // Last, because it may consume the records.
    if (longest.empty()) return;
    if (!form.json && longest.size() < recipe.shows.size()) ctx.out.line("");
    print_longest(ctx, run.session(), longest, form);
}

std::string words_for(const EndOfRun& end, HeldCommand* command) {
    switch (end.why) {
        case EndOfRun::Why::signal:
            return "ended by a signal";
        case EndOfRun::Why::time:
            return "the time is over";
        case EndOfRun::Why::stopped:
            return "a trigger stopped the buffer";
        case EndOfRun::Why::over:
            return cat(end.over.begin, " to ", end.over.end, " took ",
                       duration_text(end.over.took_ns), ", and the buffer was stopped");
        case EndOfRun::Why::command:
            return end_text("the command", command->ended().value_or(0));
    }
    return {};
}

// `buffer`: its counters before its contents were shown.
void print_end(Context& ctx, const Recipe& recipe, const EndOfRun& end, const BufferState& buffer,
               HeldCommand* command, bool json) {
    constexpr std::string_view kWhy[] = {"signal", "time", "stopped", "over", "command"};
    const bool is_commands = end.why == EndOfRun::Why::command;
    const std::string of_command = command && !is_commands ? end_command(*command) : "";
    if (json) {
        LossLedger losses;
        losses.add("overwritten", Loss::exactly(buffer.overrun));
        losses.add("dropped", Loss::exactly(buffer.dropped));
        JsonObject line;
        line.text("recipe", recipe.name.text);
        line.text("ended", kWhy[static_cast<std::size_t>(end.why)]);
        line.number("lasted_ns", end.lasted.count()).number("records", buffer.entries);
        add_loss(line, "lost", losses.total()).raw("losses", losses_json(losses));
        if (command && command->ended())
            line.number("command_status", exit_status_of(*command->ended()));
        ctx.out.line(JsonObject().raw("summary", line.done()).done());
        return;
    }
    ctx.err.line(cat(recipe.name.text, ": ", words_for(end, command), " after ",
                     in_words(end.lasted), "; ", buffer.entries,
                     buffer.entries == 1 ? " record" : " records", " in the buffer, ",
                     buffer.overrun, " overwritten, ", buffer.dropped, " dropped"));
    if (!of_command.empty()) ctx.err.line(of_command);
}

// The maximum duration of the recipe; absent: unlimited.
std::optional<std::chrono::nanoseconds> duration_of(const Recipe& recipe,
                                                    const RecipeOptions& choices) {
    if (choices.duration || !recipe.duration_ns) return choices.duration;
    return std::chrono::nanoseconds(*recipe.duration_ns);
}

// "; ends when a trigger stops the buffer, or Ctrl-C"; empty if the duration is 0.
std::string what_ends_it(const Recipe& recipe, const RecipeOptions& choices) {
    const auto duration = duration_of(recipe, choices);
    if (duration == std::chrono::nanoseconds(0)) return {};
    std::vector<std::string> ends;
    if (recipe.ends_when_stopped) ends.emplace_back("a trigger stops the buffer");
    for (const RecipeLimit& limit : recipe.limits)
        ends.push_back(cat(limit.pairs.begin.text, " to ", limit.pairs.end.text,
                           " takes longer than ",
                           in_words(std::chrono::nanoseconds(limit.over_ns))));
    if (!choices.command.empty()) ends.emplace_back("the command ends");
    if (duration) ends.push_back(cat(in_words(*duration), " are over"));
    ends.emplace_back("Ctrl-C");
    return "; ends when " + join(ends, ", or ");
}

int print_dry_run(Context& ctx, const RecipeOptions& choices, const RecipeOnKernel& on_kernel,
                  const Tracefs& top) {
    const SessionPlan plan =
        plan_recipe(on_kernel, Session::named(top, choices.session.value_or("")));
    for (const std::string& note : plan.notes) ctx.err.line(note);
    for (const std::string& line : plan.changes.shell_lines()) ctx.out.line(line);
    std::vector<std::string> words;
    for (const std::string& word : choices.command) words.push_back(shell_quote(word));
    if (!words.empty()) ctx.out.line(join(words, " "));
    return kOk;
}

EndOfRun wait_for_end(RunLoop& loop, RecipeEnd& own_end) {
    using Why = EndOfRun::Why;
    for (;; loop.wait(own_end.period())) {
        if (const auto why = own_end.look())
            return {*why == RecipeEnd::Why::over ? Why::over : Why::stopped, loop.lasted(),
                    own_end.over()};
        switch (loop.end()) {
            case RunLoop::End::none:
                break;
            case RunLoop::End::signal:
                return {Why::signal, loop.lasted(), {}};
            case RunLoop::End::command:
                return {Why::command, loop.lasted(), {}};
            case RunLoop::End::time:
                return {Why::time, loop.lasted(), {}};
        }
    }
}

// Starts the command and waits for the end of the run.
EndOfRun begin_and_wait(Context& ctx, const Recipe& recipe, const RecipeOnKernel& on_kernel,
                        RecipeRun& run, const RecipeOptions& choices, RunLoop& loop) {
    if (const auto duration = duration_of(recipe, choices)) loop.end_after(*duration);
    RecipeEnd own_end(recipe, on_kernel, run.session());
    if (!choices.json)
        ctx.err.line(cat(recipe.name.text, ": everything is set", what_ends_it(recipe, choices)));
    ctx.err.flush();
    try {
        loop.begin();
        EndOfRun end = wait_for_end(loop, own_end);
        const PairWatch* pairs = own_end.pairs();
        if (const LossLedger losses = pairs ? pairs->losses() : LossLedger(); !losses.is_complete())
            ctx.err.line(cat("the watch for the limit: ", losses_text(losses),
                             ": more may have been over it"));
        return end;
    } catch (const Error&) {  // no such command, or it was ended before it began
        run.undo();
        throw;
    }
}

// Waits for the end and shows the results.
void wait_and_show(Context& ctx, const Recipe& recipe, const RecipeOnKernel& on_kernel,
                   RecipeRun& run, const RecipeOptions& choices, RunLoop& loop) {
    const EndOfRun end = begin_and_wait(ctx, recipe, on_kernel, run, choices, loop);
    const Session& session = run.session();
    std::vector<std::string> status;
    if (std::ranges::count(recipe.shows, RecipeShow::What::status, &RecipeShow::what) > 0)
        status = commands_to_set_again(session, read_event_states(session));
    // Stop recording first, so that two `show` lines print the same records.
    if (!choices.keeps()) session.tracefs().write("tracing_on", "0\n", Write::replace);
    const BufferState buffer = read_buffer_state(session.tracefs());
    show_results(ctx, recipe, run, status, {choices.json, choices.controls, true});
    print_end(ctx, recipe, end, buffer, loop.command(), choices.json);
    if (choices.keeps() && !choices.json)
        ctx.err.line(
            cat(session.described(), " stays; 'gpufs reset", session.option(), "' removes it"));
    ctx.out.flush();
    ctx.err.flush();
}

int run_recipe(Context& ctx, const RecipeOptions& choices) {
    if (choices.words.empty())
        throw UsageError("no recipe given", "'gpufs recipe list' shows them");
    const Recipe recipe = parse_recipe(load_recipe(choices.words[0]));
    RecipeArguments arguments = arguments_of(recipe, choices);
    const RecipeParameter* pid = recipe.pid_parameter();
    const bool pid_is_commands =
        pid && !choices.command.empty() && !arguments.contains(pid->name.text);
    const Tracefs top = find_tracefs();
    remove_stale(top);
    if (choices.dry_run) {
        if (pid_is_commands)
            throw UsageError("a dry run cannot know the command's pid",
                             cat("give one: ", pid->name.text, "=PID"));
        return print_dry_run(ctx, choices, check_recipe(top, fill_in(recipe, arguments)), top);
    }

    // From here on, a stop signal is deferred until everything is undone.
    RunLoop loop(choices.duration);
    loop.hold(choices.command, command_output(ctx.out, choices.json));
    if (pid_is_commands) arguments[pid->name.text] = cat(loop.command()->pid());
    const Recipe filled = fill_in(recipe, arguments);
    const RecipeOnKernel on_kernel = check_recipe(top, filled);
    for (const std::string& note : on_kernel.notes) ctx.err.line(cat(recipe.name.text, ": ", note));

    std::optional<RecipeRun> at_work;
    if (choices.keeps())
        at_work.emplace(Session::named(top, choices.session.value_or("")), on_kernel);
    else
        at_work.emplace(top, on_kernel);
    if (!loop.is_interrupted()) wait_and_show(ctx, filled, on_kernel, *at_work, choices, loop);
    return loop.exit_status(kOk);
}

struct Verb {
    std::string_view name;
    int (*run)(Context&, const RecipeOptions&);
};
constexpr Verb kVerbs[] = {
    {"list", print_recipes}, {"show", print_recipe_text}, {"run", run_recipe}};

}  // namespace

int cmd_recipe(Context& ctx, Args args) {
    constexpr const char* kUsage =
        "recipe list | show NAME|FILE | run NAME|FILE [key=value…] [-p PID…] [-- COMMAND]";
    RecipeOptions choices;
    Options options(
        kUsage,
        "A recipe is a file of filters, triggers and settings that answers one question.\n"
        "    list    says which there are, and whether this kernel can run them\n"
        "    show    prints the text of one\n"
        "    run     sets what it says, all or nothing, waits, shows what was recorded, and\n"
        "            takes everything away. A COMMAND starts when everything is set, and\n"
        "            ends the run.");
    options.pids(choices.pids, "this process with the threads it has now, or one thread; repeated")
        .duration(choices.duration, Options::Time(0))
        .flag("keep", choices.keep, "leave everything set, in the session 'gpufs'")
        .session_name(choices.session, "the same, in a session of this name")
        .dry_run(choices.dry_run)
        .output()
        .json(choices.json)
        .raw(choices.controls);
    choices.command = take_command(args);
    if (!options.parse(ctx, args, choices.words)) return kOk;
    if (choices.words.empty())
        throw UsageError("recipe needs list, show or run", cat("usage: gpufs ", kUsage));
    const std::string word = choices.words.front();
    choices.words.erase(choices.words.begin());
    const auto verb = std::ranges::find(kVerbs, word, &Verb::name);
    if (verb != std::end(kVerbs)) return verb->run(ctx, choices);
    std::vector<std::string> names;
    for (const Verb& known : kVerbs) names.emplace_back(known.name);
    std::string hint = did_you_mean(word, names);
    throw UsageError(cat("'recipe' does not know '", word, "'"),
                     hint.empty() ? cat("usage: gpufs ", kUsage) : hint);
}

}  // namespace gpufs
