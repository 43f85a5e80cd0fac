#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/places/kernel_facts.h"
#include "engine/places/sites.h"
#include "engine/symbols/code_files.h"
#include "lang/program/program.h"

namespace gpufs {

using FoundSites = std::variant<std::vector<ProbeSite>, Absent>;  // one site at least

// What a search for places knows.
struct SiteSearch {
    const Program& program;
    KernelFacts& machine;
    // There is another alternative, or the program is optional.
    bool has_other_way;
    ProbeSites& found;  // takes notes and cautions
    LibraryFiles& libraries;
};

// `site` has its program and its target; each function fills in the rest. They return one site for
// each event, or one for all functions or places of a file. Without a hint for an event that is not
// there: near names take longer to find than all else.
FoundSites find_event_sites(const SiteSearch& search, ProbeSite site);
// Of samples. Live there is nothing to find; a recording of perf's has the samples of one event, at
// which the program runs as at a tick: of the one that it names, or of a clock, or the first.
FoundSites find_sample_sites(const SiteSearch& search, ProbeSite site);
// The kernel lists what it has; asking costs tens of milliseconds, so only where there is another
// way. Otherwise attaching tells.
FoundSites find_function_sites(const SiteSearch& search, ProbeSite site);
// Of functions in a program or a library.
FoundSites find_file_sites(const SiteSearch& search, ProbeSite site);
// Of iterators: `functions` is the one that their programs are of.
FoundSites find_iterator_sites(const SiteSearch& search, ProbeSite site);

// Where the name of a function, or of a static probe's provider, begins in a target's, behind that
// of a file or a module: "prog:ns::f", "drm:drm_open". 0 where it stands alone.
std::size_t name_begin(const ProbeTarget& target);
// The program or library that a probe is in, and whether that is a pattern of names of libraries,
// not a path.
std::string file_of(const ProbeTarget& target);
bool is_library_pattern(std::string_view file);
// The files of either; one at least.
std::variant<std::vector<std::string>, Absent> find_files(const SiteSearch& search,
                                                          const std::string& file);

// The functions that a probe with a pattern of them would be attached to: their symbols.
std::variant<std::vector<std::string>, Absent> find_functions_of(const ProbeTarget& target,
                                                                 KernelFacts& machine);

}  // namespace gpufs
