#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/source.h"
#include "engine/probe/source_events.h"
#include "engine/session/filters.h"
#include "engine/session/session.h"

namespace gpufs {

// A line that defines a probe, and where each of its words is from in the user's text: the event's
// name, the place, the arguments.
struct ProbeWrite {
    std::string line;
    std::vector<Span> words;
};

// What adds probes to a session.
struct ProbeAddition {
    SessionPlan plan;                 // a note for each event, and what the user should know
    std::vector<std::string> events;  // "gpufs:readline"
    std::vector<ProbeWrite> writes;
    std::vector<ArgumentWay> ways;  // of what is read by the names of the program
};

// Resolves a definition on this machine; nothing is changed. Throws SourceError for a mistake in
// it, UsageError if the session has such an event already, UnsupportedError if this kernel lacks
// what it takes. The events are in the group of the session, whose instance is made if it is not
// there: what is in a group without its instance is removed as a dead owner's.
// With a `file`, the definition's place is in that program or library.
ProbeAddition plan_add_probe(const Session& session, const SourceText& definition,
                             const std::string& file = {});

// Throws what the kernel said of a line as a mistake at the user's own words, if it says where;
// else the error itself.
[[noreturn]] void throw_refused(const SysError& refusal, const SourceText& definition,
                                const ProbeAddition& addition);

}  // namespace gpufs
