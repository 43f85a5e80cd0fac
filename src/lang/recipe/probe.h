#pragma once

#include "lang/event/event_format.h"
#include "lang/recipe/recipe.h"

namespace gpufs {

// The format that the probe's event will have, so that conditions on it are checked before there is
// a probe. Offsets mean nothing. `source` is for messages: throws SourceError for a field that is
// not NAME=FETCH[:TYPE] or whose type no kernel has.
EventFormat format_of(const RecipeProbe& probe, const SourceText& source);

}  // namespace gpufs
