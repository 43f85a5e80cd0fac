#pragma once

#include "base/diagnostics.h"
#include "lang/recipe/recipe.h"

namespace gpufs {

// What the lines of a recipe say about each other: every name that is used is declared, and every
// one that is declared is used, once where it must be. Adds what is wrong to `mistakes`.
void check_names(const Recipe& recipe, Diagnostics& mistakes);

}  // namespace gpufs
