#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/trace/event_catalog.h"
#include "kernel/tracefs/tracefs.h"
#include "lang/event/event_format.h"
#include "lang/expr/expr.h"

namespace gpufs {

// The events that a word or an expression may mean: those of this kernel, or those that a recording
// brings along.
struct KnownEvents {
    KnownEvents(const Tracefs& top);  // not explicit: a tracefs directory is a set of events
    // Borrows the catalog.
    explicit KnownEvents(const EventCatalog& recording);

    std::function<std::vector<std::string>()> names;  // as "system:name"
    // Of "system:name"; absent when there is none.
    std::function<std::optional<std::string>(const std::string& full_name)> format_text;
    std::string owner;    // "this kernel": for what is told about them
    std::string listing;  // what shows them: "'gpufs list' shows the events of this kernel"
};

// The format of one event. Throws UsageError, with a "did you mean", when there is
// no such event.
EventFormat load_event_format(const KnownEvents& known, const std::string& full_name);

// The events a user means: "sched:sched_switch", "sched_switch", a whole system "sched", or shell
// patterns of any of these. In their order, each once. Throws UsageError for a word that
// means none, with what is near.
std::vector<std::string> match_events(const KnownEvents& known,
                                      const std::vector<std::string>& words);

// The same with their formats. Throws SourceError when the expression does not check against one.
std::vector<EventFormat> match_events(const KnownEvents& known,
                                      const std::vector<std::string>& words,
                                      const Expression& expression);

// Does the word mean this event?
bool means_event(std::string_view word, std::string_view full_name);

// Every event that has all the fields an expression names, and against which it checks. Throws
// SourceError when there is none, with the reason: the field nobody has, or what is wrong with it.
std::vector<EventFormat> events_for(const KnownEvents& known, const Expression& expression);

}  // namespace gpufs
