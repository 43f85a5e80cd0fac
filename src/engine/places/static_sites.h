#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/places/finders.h"
#include "kernel/elf/usdt_notes.h"
#include "lang/program/static_argument.h"

namespace gpufs {

// A place of a static probe (USDT), and where it has its arguments: also global variables, whose
// distance from the place is known.
struct StaticPlace {
    UsdtProbe probe;
    std::vector<StaticArgument> arguments;
};

// The places in a file, in its order, of the probes whose provider and name match shell patterns.
// The name may have alternatives in braces, and '-' for "__". Throws what find_usdt_probes() does.
std::vector<StaticPlace> find_static_places(const std::string& path, std::string_view provider,
                                            std::string_view name);

// The arguments that a static probe has at each of its places; empty where it has none.
std::vector<std::vector<StaticArgument>> find_static_arguments(const ProbeTarget& target,
                                                               KernelFacts& machine);

// The targets "FILE:PROVIDER:NAME" of the static probes that a target's patterns mean, sorted.
std::vector<std::string> find_static_probes(const ProbeTarget& target, KernelFacts& machine);

// One site for each file; where the program reads arguments, one for the places of a file that have
// them alike.
FoundSites find_static_sites(const SiteSearch& search, ProbeSite site);

}  // namespace gpufs
