#include <algorithm>

#include "base/text.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/session_choice.h"
#include "engine/session/instance_names.h"
#include "engine/session/session_probes.h"
#include "engine/session/settings.h"
#include "view/json.h"
#include "view/losses.h"

namespace gpufs {
namespace {

void print_json(Context& ctx, const Session& session, const std::vector<std::string>& commands,
                const std::vector<std::string>& probes, const BufferState& buffer) {
    JsonArray command_list, probe_list;
    for (const std::string& command : commands) command_list.add_text(command);
    for (const std::string& probe : probes) probe_list.add_text(probe);
    JsonObject line;
    line.text_or_null("session", session.name());
    line.text("tracefs", session.tracefs().root());
    line.boolean("tracing_on", buffer.is_on).number("records", buffer.entries);
    add_loss(line, "lost", Loss::exactly(buffer.lost()));
    line.raw("commands", command_list.done()).raw("probes", probe_list.done());
    ctx.out.line(line.done());
}

void print_text(Context& ctx, const Session& session, const std::vector<std::string>& commands,
                const std::vector<std::string>& probes, const BufferState& buffer,
                Controls controls) {
    std::string head = cat("# ", session.described(), ": ", session.tracefs().root(), ", ",
                           buffer.is_on ? "recording" : "stopped", ", ", buffer.entries,
                           buffer.entries == 1 ? " entry" : " entries", " in the buffer");
    if (buffer.overrun > 0) head += cat(", ", buffer.overrun, " overwritten");
    if (buffer.dropped > 0) head += cat(", ", buffer.dropped, " dropped");
    ctx.out.line(head);
    const auto line = [&](const std::string& text) { ctx.out.line(printable(text, controls)); };
    for (const std::string& probe : probes)
        line(cat("echo ", shell_quote(probe), " >> ", session.top().path("dynamic_events")));
    for (const std::string& command : commands) line(command);
    if (commands.empty() && probes.empty()) ctx.out.line("# nothing is set");
}

void print_session(Context& ctx, const Session& session, bool json, Controls controls) {
    const auto commands = commands_to_set_again(session, read_event_states(session));
    std::vector<std::string> probes;
    if (!session.is_global())
        for (const ProbeLine& probe : probes_of(session.top(), session.probe_group()))
            probes.push_back(probe.text);
    const BufferState buffer = read_buffer_state(session.tracefs());
    if (json)
        print_json(ctx, session, commands, probes, buffer);
    else
        print_text(ctx, session, commands, probes, buffer, controls);
}

}  // namespace

int cmd_status(Context& ctx, Args args) {
    std::vector<std::string> words;
    SessionChoice choice;
    bool json = false;
    Controls controls = Controls::escaped;
    Options options(
        "status [--session NAME | --global] [--json]",
        "Prints what is set in every session of gpufs, as the commands that would set it\n"
        "again, and which other tracefs instances there are.");
    options.session(choice).output().json(json).raw(controls);
    if (!options.parse(ctx, args, words)) return kOk;
    check_words(words, 0);
    const Session chosen = open_session(choice);
    if (choice.global || !choice.name.empty()) {
        print_session(ctx, require_session(choice), json, controls);
        return kOk;
    }
    const Tracefs& top = chosen.top();
    const auto sessions = Session::all(top);
    for (const Session& session : sessions) print_session(ctx, session, json, controls);
    if (json) return kOk;
    if (sessions.empty()) ctx.out.line("# no session: nothing is set by gpufs");
    std::vector<std::string> own, others;
    for (const std::string& instance : top.instances())
        if (std::ranges::none_of(sessions, [&](const Session& session) {
                return session.tracefs().root() == top.instance(instance).root();
            }))
            (instance.starts_with(kInstancePrefix) ? own : others).push_back(instance);
    const auto tell = [&](const char* of, const std::vector<std::string>& instances) {
        if (!instances.empty())
            ctx.out.line(printable(cat("# ", of, ": ", join(instances, ", ")), controls));
    };
    tell("instances of gpufs commands at work", own);
    tell("other instances, not ours", others);
    return kOk;
}

}  // namespace gpufs
