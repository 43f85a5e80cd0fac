#pragma once

#include <string>
#include <vector>

#include "engine/session/filters.h"
#include "engine/session/settings.h"
#include "lang/recipe/recipe.h"

namespace gpufs {

// A recipe resolved for one kernel: all names found, all conditions in tracefs syntax.
struct RecipeOnKernel {
    struct Probe {
        std::string name;   // without the group
        std::string file;   // the file that defines it
        char letter = 'p';  // 'r' for a return probe
        // The text after the name, for each of its places.
        std::vector<std::string> definitions;
    };
    struct Event {
        std::string name;    // "sched:sched_switch"; a probe's name without a group
        std::string filter;  // empty: every occurrence
        std::vector<Trigger>
            triggers;  // conditions as written; also those with a probe as argument
    };
    std::vector<Probe> probes;
    std::vector<Event> events;
    std::vector<Setting> settings;
    // Which alternatives were chosen, one line each.
    std::vector<std::string> notes;
};

// Checks a recipe made by fill_in() against this kernel; changes nothing. Throws UsageError with
// all mistakes, or UnsupportedError if the recipe is correct but this kernel lacks something; both
// with source lines and carets.
RecipeOnKernel check_recipe(const Tracefs& top, const Recipe& recipe);

// The features that this kernel lacks for the recipe, a few words each: "the stacktrace trigger";
// empty if it lacks none. Does not check files. Throws UsageError if the recipe itself is wrong.
std::vector<std::string> missing_for(const Tracefs& top, const Recipe& recipe);

// The event of a name in a recipe: SYSTEM:EVENT, or a probe's name, whose event is in the session's
// group.
std::string event_in(const Session& session, const std::string& name);

// The writes that set up the recipe in a session in which nothing is set yet.
SessionPlan plan_recipe(const RecipeOnKernel& recipe, const Session& session);

}  // namespace gpufs
