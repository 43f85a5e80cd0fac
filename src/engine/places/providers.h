#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/places/finders.h"
#include "engine/places/sites.h"
#include "kernel/perf/attach.h"
#include "lang/link/link.h"
#include "lang/program/probe_kinds.h"
#include "lang/program/program.h"

namespace gpufs {

// A loaded program, and where it is to be attached.
struct LoadedProgram {
    const ProbeSite& site;
    int program;                  // its descriptor
    bool is_multi;                // one link for all places
    const std::string& raw_name;  // of the raw tracepoint, where it goes to one
};

// What runs a kind of probe here: the half of the row in lang/program/probe_kinds.h that asks the
// machine.
struct ProbeProvider {
    ProbeTarget::Kind kind;
    std::uint32_t program_type;
    LinkTarget::Context context;
    bool is_recorded;  // Replay can run it over a recording
    // Null: there is nothing to find.
    FoundSites (*find)(const SiteSearch& search, ProbeSite site);
    // Null: it is run by hand. Throws what the functions of kernel/perf/attach.h throw.
    std::vector<Attachment> (*attach)(const LoadedProgram& loaded, const AttachOptions& how);
};
const ProbeProvider& probe_provider(ProbeTarget::Kind kind);

// Of the kernel, by kprobe: not by fentry.
bool is_kernel_probe(const ProbeKind& kind);

// "did you mean", where the kernel has a function with nearly that name.
std::optional<std::string> near_kernel_function(std::string_view name, KernelFacts& machine);

// Attaches as the provider does; what fails names the place of the target in the program's text.
std::vector<Attachment> attach_at(const Program& program, const LoadedProgram& loaded,
                                  const AttachOptions& how, KernelFacts& machine);

// What this machine has instead of fentry and fexit, a hint.
std::string instead_of_fentry(KernelFacts& machine);

}  // namespace gpufs
