#pragma once

#include <string>
#include <vector>

#include "base/source.h"

namespace gpufs {

// Recipes are looked for in the user's own directory ($XDG_CONFIG_HOME/gpufs/triggers, or
// ~/.config/gpufs/triggers), then among those compiled in.
struct RecipeFile {
    std::string name;     // "stall"
    std::string path;     // empty: compiled in
    std::string refusal;  // why root must not run it; empty when it may be run
};

// One for each name, by name.
std::vector<RecipeFile> list_recipes();

// The text of a recipe, by its name or, where it has a '/' or ends in ".trig", its file. Throws
// UsageError when there is none, with a "did you mean"; Error when root runs gpufs and others can
// write the file; SysError when it cannot be read.
SourceText load_recipe(const std::string& name_or_file);

}  // namespace gpufs
