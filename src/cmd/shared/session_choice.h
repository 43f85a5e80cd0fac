#pragma once

#include <string>
#include <string_view>

#include "engine/session/session.h"

namespace gpufs {

class Changes;
struct Context;

// The options --session NAME and --global.
struct SessionChoice {
    std::string name;
    bool global = false;
};
// Finds tracefs, cleans up after dead owners, and returns the session, which need not exist yet.
Session open_session(const SessionChoice& choice);
// The same for commands that need an existing session. Throws Error with a hint how to make it.
Session require_session(const SessionChoice& choice);

// For commands that show what is set: "there is no session 'x', so nothing is filtered", on `err`.
void tell_no_session(Context& ctx, const Session& session, std::string_view so);

// Applies the changes, or prints them as shell lines on `out` if `dry_run`.
void apply_or_print(Context& ctx, const Changes& changes, bool dry_run);

}  // namespace gpufs
