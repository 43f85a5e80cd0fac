#pragma once

#include "lang/event/event_format.h"
#include "lang/recipe/recipe.h"

namespace gpufs {

// The format that the probe's event will have, to check conditions before the probe exists. Offsets
// are not meaningful. Throws SourceError, located in `source`, for a field that is not
// NAME=FETCH[:TYPE] or has a type that no kernel supports.
EventFormat format_of(const RecipeProbe& probe, const SourceText& source);

}  // namespace gpufs
