#pragma once

#include <string>
#include <vector>

#include "gpufs/kernel/tracefs.h"
#include "gpufs/lang/event_format.h"
#include "gpufs/lang/expr.h"

namespace gpufs {

// The format of one event of this kernel. Throws UsageError, with a "did you mean", when there is
// no such event.
EventFormat load_event_format(const Tracefs& top, const std::string& full_name);

// The events a user means: "sched:sched_switch", "sched_switch", a whole system "sched", or shell
// patterns of any of these. In the kernel's order, each once. Throws UsageError for a word that
// means none, with what is near.
std::vector<std::string> match_events(const Tracefs& top, const std::vector<std::string>& words);

// The same with their formats. Throws SourceError when the expression does not check against one.
std::vector<EventFormat> match_events(const Tracefs& top, const std::vector<std::string>& words,
                                      const Expression& expression);

// Does the word mean this event?
bool means_event(std::string_view word, std::string_view full_name);

// Every event that has all the fields an expression names, and against which it checks. Throws
// SourceError when there is none, with the reason: the field nobody has, or what is wrong with it.
std::vector<EventFormat> events_for(const Tracefs& top, const Expression& expression);

}  // namespace gpufs
