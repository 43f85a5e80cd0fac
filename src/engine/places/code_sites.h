#pragma once

#include "engine/places/finders.h"

namespace gpufs {

// Whether a probe in a file is at a line of source, or its program reads names that can only be
// variables.
bool needs_debug_info(const ProbeSite& site);

// Then: a site for each address that the line or the function means, with the variables that the
// program names. Absent without debug information at a line; without, a function's site has none.
FoundSites find_code_sites(const SiteSearch& search, const ProbeSite& site);

// Why a probe of a function in a file may not have been hit, which is not in `notes` yet: as of
// inlined_hint(). Reads the file's debug information, which of large files takes seconds.
void note_inlined(const ProbeSite& site, std::vector<std::string>& notes);

}  // namespace gpufs
