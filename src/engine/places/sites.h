#pragma once

#include <string>
#include <vector>

#include "engine/places/kernel_facts.h"
#include "engine/symbols/code_files.h"
#include "kernel/perf/attach.h"
#include "lang/program/program.h"
#include "lang/program/static_argument.h"
#include "lang/variable/variable_value.h"

namespace gpufs {

// A place that one of a Program's probes attaches to on one machine; it is linked and loaded once.
// A pattern of functions or of places in a file is one site; a pattern of events is one site per
// event, because their records differ.
struct ProbeSite {
    const ProbeProgram* program = nullptr;
    const ProbeTarget* target = nullptr;  // the alternative that was chosen
    const EventFormat* event = nullptr;   // for tracepoints
    std::vector<std::string> functions;   // for kprobes and fentry, may include the module; for
                                          // uprobes by name, those at `places`, in the same order
    std::uint64_t function_offset = 0;    // offset in bytes; only for a single function
    std::vector<UprobePlace> places;      // places in a file for uprobes and static probes
    // Of a static probe: where its arguments are; those of the first place where the program reads
    // none.
    std::vector<StaticArgument> static_arguments;
    // Of a place whose file has debug information: the variables that the program names.
    std::vector<NamedVariable> variables;

    // "tracepoint sched:sched_switch", "kprobe vfs_*: 12 functions".
    std::string described() const;
};

// The field that is the second argument of a raw tracepoint, after the registers: the system call's
// number on entry, its result on exit. Null for other events.
const Field* raw_syscall_argument(const EventFormat& event);

struct ProbeSites {
    std::vector<ProbeSite> sites;
    // Which alternative was chosen, if not the first, and why.
    std::vector<std::string> choices;
    // Which probes are omitted, and why.
    std::vector<std::string> notes;
    // The program's cautions about the chosen alternatives, without duplicates.
    std::vector<std::string> cautions;
    // library_patterns() that no file has yet, of programs that are not optional.
    std::vector<std::string> awaited;
};

// What a run wants of the places of its program.
struct SiteWishes {
    // Fields that a condition uses: where an event can be read raw or as a record, the record is
    // chosen if it has all of these.
    std::vector<std::string> fields;
    // A library that is nowhere to be found may arrive later.
    bool awaits_libraries = false;
};

// Resolves all probes. Throws UsageError with every non-optional probe that has no place, each
// under its text with a hint. For a recording, missing events become notes instead; if no event is
// left, throws UnsupportedError with the way to record them.
ProbeSites find_probe_sites(const Program& program, KernelFacts& machine, LibraryFiles& libraries,
                            const SiteWishes& wishes = {});
// Afterwards, when a library arrived in `libraries`: the places in it.
std::vector<ProbeSite> find_arrived_sites(const Program& program, KernelFacts& machine,
                                          LibraryFiles& libraries);
// Whether the site is in a file that a process had mapped, and that went with the process.
bool is_gone(const ProbeSite& site);
// The patterns of libraries that the program's probes are in, each once: "libcuda.so*", or
// "@libcuda.so*" for programs that have one mapped.
std::vector<std::string> library_patterns(const Program& program);

}  // namespace gpufs
