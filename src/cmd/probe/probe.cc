#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cmd/probe/source_question.h"
#include "cmd/probe/static_probes.h"
#include "cmd/shared/argument_ways.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/session_choice.h"
#include "engine/probe/add.h"
#include "engine/probe/list.h"
#include "engine/probe/remove.h"
#include "view/json.h"
#include "view/table.h"

namespace gpufs {
namespace {

constexpr const char* kProbeUsage =
    "probe add [-x FILE] DEFINITION | vars -x FILE PLACE | lines -x FILE FUNCTION | list | "
    "remove NAME… | remove --all | usdt FILE… | usdt -p PID";

struct ProbeOptions {
    std::vector<std::string> words;  // behind the verb
    std::optional<std::string> session, file;
    std::vector<int> pids;
    bool all = false, dry_run = false, json = false, explain = false, globals = false;
    Controls controls = Controls::escaped;

    SessionChoice choice() const { return {session.value_or(""), false}; }
    SourceQuestion question() const { return {words, file, globals, json, controls}; }
};

int add_probe(Context& ctx, const ProbeOptions& choices) {
    if (choices.words.empty())
        throw UsageError("no probe given",
                         "such as: gpufs probe add '/bin/bash:main argc=%di:s32'");
    // Unquoted, the shell hands the definition over in pieces.
    const SourceText source{"probe", join(choices.words, " ")};
    const Session session = open_session(choices.choice());
    const ProbeAddition addition = plan_add_probe(session, source, choices.file.value_or(""));
    if (choices.explain) ctx.out.write(ways_table(addition.ways, choices.controls));
    try {
        apply_or_print(ctx, addition.plan.changes, choices.dry_run);
    } catch (const SysError& e) {
        throw_refused(e, source, addition);
    }
    if (choices.dry_run) return kOk;
    for (const std::string& note : addition.plan.notes) ctx.err.line(note);
    const std::string& event = addition.events.front();
    ctx.err.line(cat("hint: gpufs filter -e ", event, " --all", session.option(), " records ",
                     addition.events.size() == 1 ? "it" : "the first"));
    return kOk;
}

std::string probe_json(const SessionProbe& probe) {
    JsonArray places, arguments;
    for (const SessionProbe::Place& place : probe.places)
        places.add(
            JsonObject().text("place", place.text).text_or_null("function", place.function).done());
    for (const std::string& argument : split(probe.arguments, ' ')) arguments.add_text(argument);
    JsonObject line;
    line.text("event", probe.event).text("kind", probe.is_user ? "user" : "kernel");
    line.boolean("return", probe.is_return);
    line.raw("places", places.done()).raw("arguments", arguments.done());
    line.number_or_null("hits", probe.hits).number_or_null("missed", probe.missed);
    return line.done();
}

int list_session_probes(Context& ctx, const ProbeOptions& choices) {
    if (!choices.words.empty())
        throw UsageError("'probe list' takes no names", "'gpufs list --probes' shows everybody's");
    const Session session = open_session(choices.choice());
    const std::vector<SessionProbe> probes = read_session_probes(session);
    if (choices.json) {
        for (const SessionProbe& probe : probes) ctx.out.line(probe_json(probe));
        return kOk;
    }
    if (probes.empty()) {
        if (session.exists())
            ctx.err.line(cat("no probe is set in ", session.described()));
        else
            tell_no_session(ctx, session, "no probe is set");
        return kOk;
    }
    using Align = Table::Align;
    Table table({{"EVENT", Align::left},
                 {"HITS", Align::right},
                 {"PLACE", Align::left},
                 {"ARGUMENTS", Align::left}});
    for (const SessionProbe& probe : probes)
        table.add({probe.event, probe.hits ? cat(*probe.hits) : "-",
                   printable(cat(probe.is_return ? "return of " : "", probe.place_text()),
                             choices.controls),
                   printable(probe.arguments, choices.controls)});
    ctx.out.write(table.to_text());
    return kOk;
}

int remove_probe(Context& ctx, const ProbeOptions& choices) {
    if (choices.words.empty() != choices.all)
        throw UsageError("remove takes names or --all", cat("usage: gpufs ", kProbeUsage));
    const Session session = require_session(choices.choice());
    if (choices.all && read_session_probes(session).empty()) {
        ctx.err.line(cat("no probe is set in ", session.described()));
        return kOk;
    }
    const SessionPlan plan = plan_remove_session_probes(
        session, choices.all ? std::vector<std::string>{"*"} : choices.words);
    try {
        apply_or_print(ctx, plan.changes, choices.dry_run);
    } catch (const SysError& e) {
        if (e.code() != EBUSY) throw;
        throw Error(e.what(), "somebody else records it: end that first", e.evidence());
    }
    if (!choices.dry_run)
        for (const std::string& note : plan.notes) ctx.err.line(note);
    return kOk;
}

int list_usdt(Context& ctx, const ProbeOptions& choices) {
    if (choices.words.empty() && choices.pids.empty())
        throw UsageError("usdt needs a FILE or a process",
                         "gpufs probe usdt libstdc++.so.6, or "
                         "gpufs probe usdt -p PID");
    return print_static_probes(ctx, {choices.words, choices.pids, choices.json, choices.controls});
}

int list_variables_at(Context& ctx, const ProbeOptions& choices) {
    return list_place_variables(ctx, choices.question());
}
int list_lines_of(Context& ctx, const ProbeOptions& choices) {
    return list_source_lines(ctx, choices.question());
}

struct ProbeVerb {
    std::string_view name;
    int (*run)(Context&, const ProbeOptions&);
};
constexpr ProbeVerb kProbeVerbs[] = {{"add", add_probe},          {"list", list_session_probes},
                                     {"remove", remove_probe},    {"usdt", list_usdt},
                                     {"vars", list_variables_at}, {"lines", list_lines_of}};

}  // namespace

int cmd_probe(Context& ctx, Args args) {
    ProbeOptions choices;
    Options options(
        kProbeUsage,
        "Makes events of places in code, for as long as the session lives:\n"
        "    gpufs probe add 'p:do_nanosleep t=%di'\n"
        "    gpufs probe add '/usr/sbin/prog:function+0x39 tv_diff=%si:u64'\n"
        "    gpufs probe add 'r:line /bin/bash:readline text=+0($retval):string'\n"
        "    gpufs probe add 'usdt:python3:python:gc__start'\n"
        "    gpufs probe add -x prog 'sched.c:412 tv_diff req->len name'\n"
        "Every command takes them by name, as it takes other events: filter, trigger, record.\n"
        "    vars    the variables at a place, where they are and what reads them\n"
        "    lines   the source of a function or file, with the lines that can be probed (*)\n"
        "    list    the session's probes, with their hits\n"
        "    remove  by name or pattern, or --all; what is set on them goes, too\n"
        "    usdt    the static probes (USDT) of a program or library, or of what a process\n"
        "            has mapped, as 'add' takes them");
    options.session_name(choices.session, "the session they belong to")
        .value("exec,x", choices.file, "FILE",
               "the program or library that the place is in: SOURCE:LINE, FUNCTION:LINE, FUNCTION")
        .flag("explain", choices.explain, "add: where each variable is, and what reads it")
        .flag("globals", choices.globals, "vars: those of the source file, too")
        .pids(choices.pids, "usdt: what this process has mapped; repeated")
        .flag("all", choices.all, "remove: all probes of the session")
        .dry_run(choices.dry_run)
        .output()
        .json(choices.json)
        .raw(choices.controls);
    std::vector<std::string> words;
    if (!options.parse(ctx, args, words)) return kOk;
    if (words.empty())
        throw UsageError("probe needs add, vars, lines, list, remove or usdt",
                         cat("usage: gpufs ", kProbeUsage));
    const std::string word = words.front();
    choices.words.assign(words.begin() + 1, words.end());
    if (choices.all && word != "remove") throw UsageError("--all goes with remove");
    if (!choices.pids.empty() && word != "usdt") throw UsageError("-p goes with usdt");
    if (choices.explain && word != "add") throw UsageError("--explain goes with add");
    if (choices.globals && word != "vars") throw UsageError("--globals goes with vars");
    if (choices.file && word != "add" && word != "vars" && word != "lines")
        throw UsageError("-x goes with add, vars and lines");
    const auto verb = std::ranges::find(kProbeVerbs, word, &ProbeVerb::name);
    if (verb != std::end(kProbeVerbs)) return verb->run(ctx, choices);
    std::vector<std::string> names;
    for (const ProbeVerb& known : kProbeVerbs) names.emplace_back(known.name);
    const std::string hint = did_you_mean(word, names);
    throw UsageError(cat("'probe' does not know '", word, "'"),
                     hint.empty() ? cat("usage: gpufs ", kProbeUsage) : hint);
}

}  // namespace gpufs
