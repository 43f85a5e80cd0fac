#include "base/cat.h"
#include "base/error.h"
#include "cmd/shared/command.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/session_choice.h"
#include "engine/session/changes.h"

namespace gpufs {
namespace {

int switch_buffer(Context& ctx, Args args, bool on) {
    std::vector<std::string> words;
    SessionChoice choice;
    bool dry_run = false;
    Options options(
        cat(on ? "start" : "stop", " [--session NAME | --global] [--dry-run]"),
        on ? "Lets the session's buffer record again."
           : "Stops the session's buffer. What it holds stays; events and triggers stay set.");
    options.session(choice).dry_run(dry_run);
    if (!options.parse(ctx, args, words)) return kOk;
    check_words(words, 0);
    const Session session = require_session(choice);
    Changes changes;
    changes.replace(session.tracefs(), "tracing_on", on ? "1" : "0",
                    session.tracefs().read("tracing_on") == "1\n" ? "1" : "0");
    apply_or_print(ctx, changes, dry_run);
    if (!dry_run) ctx.err.line(cat(session.described(), on ? " records" : " is stopped"));
    return kOk;
}

}  // namespace

int cmd_start(Context& ctx, Args args) {
    return switch_buffer(ctx, args, true);
}
int cmd_stop(Context& ctx, Args args) {
    return switch_buffer(ctx, args, false);
}

}  // namespace gpufs
