#pragma once

#include <string>
#include <vector>

#include "engine/session/filters.h"
#include "engine/session/settings.h"
#include "lang/recipe/recipe.h"

namespace gpufs {

// What a recipe comes to on one kernel: every name found, every condition in the kernel's form.
struct RecipeOnKernel {
    struct Probe {
        std::string name;        // without the group
        std::string file;        // that defines it
        char letter = 'p';       // 'r' for a return probe
        std::string definition;  // what stands behind the name
    };
    struct Event {
        std::string name;               // "sched:sched_switch"; a probe's name without a group
        std::string filter;             // empty: every occurrence
        std::vector<Trigger> triggers;  // conditions as they are written; a probe as argument, too
    };
    std::vector<Probe> probes;
    std::vector<Event> events;
    std::vector<Setting> settings;
    // Which alternatives were taken, a line each.
    std::vector<std::string> notes;
};

// Checks all of a recipe that fill_in made against this kernel; changes nothing. Throws UsageError
// with every mistake, or UnsupportedError when nothing is wrong but what this kernel lacks, both
// with lines and carets.
RecipeOnKernel check_recipe(const Tracefs& top, const Recipe& recipe);

// What this kernel lacks to run the recipe, a few words each: "the stacktrace trigger"; empty when
// it can. Asks nothing about files. Throws UsageError when the recipe itself is wrong.
std::vector<std::string> missing_for(const Tracefs& top, const Recipe& recipe);

// The writes that set it all in a session, which nothing is set in yet.
SessionPlan plan_recipe(const RecipeOnKernel& recipe, const Session& session);

}  // namespace gpufs
