#pragma once

#include <string>
#include <vector>

#include "base/source.h"

namespace gpufs {

// A recipe, either from the user's own directory ($XDG_CONFIG_HOME/gpufs/triggers, or
// ~/.config/gpufs/triggers), which takes precedence, or compiled in.
struct RecipeFile {
    std::string name;     // "stall"
    std::string path;     // empty if compiled in
    std::string refusal;  // why root must not run it; empty if it may
};

// One entry per name, sorted by name.
std::vector<RecipeFile> list_recipes();

// The text of a recipe by its name or, if it contains a '/' or ends in ".trig", by its file. Throws
// UsageError with a "did you mean" if there is none; Error if root runs gpufs and others can write
// the file; SysError if it cannot be read.
SourceText load_recipe(const std::string& name_or_file);

}  // namespace gpufs
