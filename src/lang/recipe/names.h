#pragma once

#include "base/diagnostics.h"
#include "lang/recipe/recipe.h"

namespace gpufs {

// Checks names across the lines of a recipe: each used name is declared, each declared name is
// used, and exactly once where required. Adds errors to `mistakes`.
void check_names(const Recipe& recipe, Diagnostics& mistakes);

}  // namespace gpufs
