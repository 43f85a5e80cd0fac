#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/source.h"
#include "kernel/tracefs/tracefs.h"
#include "lang/probe/definition.h"

namespace gpufs {

// A place to probe, found on this machine.
struct FoundPlace {
    std::string text;      // as the kernel takes it: "/bin/bash:0x1139", "gpu_sched:f.isra.0+16"
    std::string function;  // for the event's name; a number's digits where no function is named
};

// The kernel has no such function, or not the module that is to have it.
class MissingFunction : public SourceError {
public:
    using SourceError::SourceError;
};

// Where a function of a program or library is in its file, by the symbols of the file or of its
// separate debug file: the one of this name, or, of several variants at different places, none.
// Throws UsageError, with near names or the candidates, if there is no such function or it is not
// one.
std::uint64_t find_function_offset(const std::string& file, const std::string& function);

// "+0x2e7e(%ip)", on arm64 (%pc): how a probe at an address of a program reads what is at another
// of them: so far from the instruction. ("@+OFFSET", from the begin of the probe's segment, was
// seen to read 0 on Linux 5.10.)
std::string fetch_from_instruction(std::uint64_t probe_address, std::uint64_t address);
// The same for a probe at this offset of a file and a variable of it, or memory behind its begin.
// Absent if the file has no such symbol. Throws Error if it cannot be read.
std::optional<std::string> variable_fetch(const std::string& file, std::uint64_t probe_offset,
                                          const std::string& symbol, std::int64_t behind);

// The places that a definition means, each of which becomes an event: one, or of a pattern one for
// each function. Throws SourceError at the definition's place if there is none, if several have the
// name, or if the file cannot be read, of these MissingFunction for one of the kernel;
// UnsupportedError if this kernel has no such probes. Adds what the user should know to `notes`.
std::vector<FoundPlace> find_places(const Tracefs& top, const SourceText& source,
                                    const ProbeDefinition& definition, const ProbePlace& place,
                                    std::vector<std::string>& notes);

// "FILE:0x0000000000001139": a place in a file as the kernel writes it in dynamic_events. One of
// the several places of an event is removed by this text.
std::string kernel_place_text(const std::string& file, std::uint64_t offset);

// Whether a word in front of a ':' names a program or library, and no module of the kernel.
bool names_code_file(const std::string& word);

// The absolute path of the file that a place names. Throws SourceError.
std::string require_code_file(const SourceText& source, Span at, const std::string& name);
// The same for an event of tracefs: the kernel takes it in a line, without blanks and '#'.
std::string require_kernel_path(const SourceText& source, Span at, const std::string& name);

// Throws UnsupportedError if this kernel has no kprobe or uprobe events.
void require_probe_events(const Tracefs& top, bool is_user);

}  // namespace gpufs
