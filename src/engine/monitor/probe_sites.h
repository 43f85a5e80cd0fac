#pragma once

#include <string>
#include <vector>

#include "engine/monitor/kernel_facts.h"
#include "kernel/perf/attach.h"
#include "lang/program/program.h"

namespace gpufs {

// Where one of a Program's probes goes on one machine: what is linked and loaded once. A pattern of
// functions or of places in a file is one site; events differ in their records, so each of them is
// one.
struct ProbeSite {
    const ProbeProgram* program = nullptr;
    const ProbeTarget* target = nullptr;  // the alternative that was taken
    const EventFormat* event = nullptr;   // of tracepoints
    std::vector<std::string> functions;   // the kernel's: kprobes, fentry; may have their module
    std::uint64_t function_offset = 0;    // bytes into the one function
    std::vector<UprobePlace> places;      // in a file: uprobes, static probes

    // "tracepoint sched:sched_switch", "kprobe vfs_*: 12 functions".
    std::string described() const;
};

// The field that is the second argument of a raw tracepoint, behind the registers: of a system call
// the number at its begin, the result at its end. Null for other events.
const Field* raw_syscall_argument(const EventFormat& event);

struct ProbeSites {
    std::vector<ProbeSite> sites;
    // Which alternative was taken, where it is not the first, and why.
    std::vector<std::string> choices;
    // Which probe is left out, and why.
    std::vector<std::string> notes;
    // What the program's cautions say to the choice, once each.
    std::vector<std::string> cautions;
};

// Finds the places of all probes. Throws UsageError, with every probe that has none and is not
// optional, under its text with a hint. Of a recording a note tells of each that is missing; where
// none is left that looks at an event, it throws UnsupportedError with the way to record them.
// `fields` are those that a condition asks for: an event that has them all is taken with its
// record, not raw, where both ways are open.
ProbeSites find_probe_sites(const Program& program, KernelFacts& machine,
                            const std::vector<std::string>& fields = {});

}  // namespace gpufs
