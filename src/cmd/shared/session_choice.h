#pragma once

#include <string>

#include "engine/session/session.h"

namespace gpufs {

class Changes;
struct Context;

// --session NAME or --global, as given.
struct SessionChoice {
    std::string name;
    bool global = false;
};
// Finds tracefs, clears up after dead owners, and returns the session; it need not exist yet.
Session open_session(const SessionChoice& choice);
// The same, for commands that need one to be there. Throws Error with the way to make it.
Session require_session(const SessionChoice& choice);

// Applies the changes, or prints them as shell lines on `out` when it is a dry run.
void apply_or_print(Context& ctx, const Changes& changes, bool dry_run);

}  // namespace gpufs
