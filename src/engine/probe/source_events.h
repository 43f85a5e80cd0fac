#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/source.h"
#include "engine/probe/code_spots.h"
#include "engine/probe/planned_event.h"
#include "engine/symbols/debug_info.h"
#include "lang/probe/definition.h"

namespace gpufs {

// Whether a definition can be resolved by the file's debug information only: it names a source
// line, or a variable of the program.
bool needs_debug_info(const SourceText& source, const ProbeDefinition& definition,
                      const ProbePlace& place);

// The debug information of a place's file. Throws SourceError, at the definition's place, if it has
// none.
std::unique_ptr<DebugInfo> require_debug_info(const SourceText& source, Span at,
                                              const std::string& file);

// The code that a place means: of a source line, or where a function begins. If `for_variables`,
// what is in the prologue of a function is moved behind it where only there its parameters are
// where DWARF says, which `notes` says. Throws SourceError, at `at`.
std::vector<CodeSpot> find_spots(DebugInfo& info, const SourceText& source, Span at,
                                 const ProbePlace& place, bool for_variables,
                                 std::vector<std::string>& notes);

// How an argument is read, for --explain.
struct ArgumentWay {
    std::string place;  // "sched.c:412"
    std::string name, c_type;
    std::string where;         // by DWARF: "[%bp-24]"
    std::string fetch;         // by the kernel: "-24(%bp):s32"
    std::string program = {};  // by a program, where one reads it: "[%bp-24]:s32"
};

// The events for such a definition: all places of the line, with its arguments at each. Places
// whose arguments have other types are events of their own, as of static probes; places at which
// one cannot be read are left out, which `notes` says. Throws SourceError if there is none.
std::vector<PlannedEvent> find_source_events(const SourceText& source,
                                             const ProbeDefinition& definition,
                                             const ProbePlace& place,
                                             std::vector<std::string>& notes,
                                             std::vector<ArgumentWay>& ways);

}  // namespace gpufs
