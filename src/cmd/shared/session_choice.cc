#include "cmd/shared/session_choice.h"

#include "base/cat.h"
#include "base/error.h"
#include "cmd/shared/command.h"
#include "engine/session/changes.h"
#include "engine/session/stale.h"

namespace gpufs {

Session open_session(const SessionChoice& choice) {
    if (choice.global && !choice.name.empty())
        throw UsageError("--global and --session exclude each other");
    const Tracefs top = find_tracefs();
    remove_stale(top);
    return choice.global ? Session::global(top) : Session::named(top, choice.name);
}

Session require_session(const SessionChoice& choice) {
    Session session = open_session(choice);
    if (!session.exists())
        throw Error(cat("there is no ", session.described()),
                    cat("'gpufs filter EXPR", session.option(),
                        "' makes it, as a trigger or an option does"));
    return session;
}

void tell_no_session(Context& ctx, const Session& session, std::string_view so) {
    ctx.err.line(cat("gpufs: there is no ", session.described(), ", so ", so));
}

void apply_or_print(Context& ctx, const Changes& changes, bool dry_run) {
    if (!dry_run) return changes.apply();
    for (const std::string& line : changes.shell_lines()) ctx.out.line(line);
}

}  // namespace gpufs
