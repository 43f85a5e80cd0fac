#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "lang/event/event_format.h"
#include "lang/expr/expr.h"
#include "lang/print_fmt/format.h"

namespace gpufs {

// One event, ready to decode its records.
class TraceEvent {
public:
    explicit TraceEvent(EventFormat f) : format(std::move(f)) {}

    const EventFormat format;
    // The event's "print fmt", parsed at the first call.
    const PrintFormat& print() const;

private:
    mutable std::unique_ptr<const PrintFormat> print_;
};

// Where the format texts of a set of events are: a tracefs directory, or a recording. Events are
// named "system:name" throughout.
class EventSource {
public:
    virtual ~EventSource() = default;

    // All events, in the source's order; some may come twice. Throws SysError.
    virtual std::vector<std::string> names() = 0;
    // Absent when the source has no such event.
    virtual std::optional<std::string> format_text(std::string_view full_name) = 0;
    // The event whose records have this id.
    virtual std::optional<std::string> find_name(int id) = 0;
    // "this kernel", "this recording".
    virtual std::string described() const = 0;
    // Where to look for an event that the source does not have.
    virtual std::string advice(std::string_view missing) const = 0;
    // Where to look for the fields of its events.
    virtual std::string field_advice() const = 0;
};

// The events of a kernel or of a recording, by name and by the id in their records. Only those
// asked for are read, once: parsing a format takes about 40 us, and a kernel has 2,300 of them.
class Events {
public:
    // No events.
    Events() = default;
    explicit Events(std::unique_ptr<EventSource> source) : source_(std::move(source)) {}

    // "this kernel", "this recording".
    std::string described() const;
    // All events, in the source's order. Throws SysError.
    const std::vector<std::string>& names();
    // Those that match a shell pattern of "system:name".
    std::vector<std::string> names(std::string_view pattern);

    // Null when there is no such event, or its format cannot be parsed. What is found lives as long
    // as this does.
    const TraceEvent* find(std::string_view full_name);
    const TraceEvent* find(int id);
    const EventFormat* find_format(std::string_view full_name);
    // Throws UsageError, with a "did you mean", when there is no such event, and Error when its
    // format cannot be parsed.
    const EventFormat& require(std::string_view full_name);
    // "did you mean 'sched_switch'?", or where to look, for a word that means no event.
    std::string hint(std::string_view word);

    // The events a user means: "sched:sched_switch", "sched_switch", a whole system "sched", or
    // shell patterns of any of these; all also behind "tracepoint:". In the order of the words,
    // each once. Throws UsageError for a word that means none.
    std::vector<std::string> match(const std::vector<std::string>& words);
    // The same with their formats. Throws SourceError when the expression does not check against
    // one.
    std::vector<EventFormat> match(const std::vector<std::string>& words,
                                   const Expression& expression);
    // Every event that has all the fields an expression names, and against which it checks. Throws
    // SourceError when there is none, with the reason: the field nobody has, or what is wrong with
    // it.
    std::vector<EventFormat> with_fields_of(const Expression& expression);
    // The one event that has them. Throws UsageError, with the first ones to choose from, where
    // several have.
    EventFormat only_with_fields_of(const Expression& expression);

private:
    // Ids are 16 bits wide in the records (common_type).
    static constexpr int kMostIds = 1 << 16;
    struct Slot {
        bool is_known = false;
        const TraceEvent* event = nullptr;
    };
    const TraceEvent* add(std::string_view full_name, std::string_view text);
    std::optional<std::string> format_text(std::string_view full_name);
    UsageError no_such_event(std::string_view word);
    [[noreturn]] void throw_no_fields(const Expression& expression,
                                      const std::vector<std::string>& fields);

    std::unique_ptr<EventSource> source_;
    std::optional<std::vector<std::string>> names_;
    // What hint() compares with; made on first use.
    std::optional<std::vector<std::string>> words_;
    // Null where there is no such event.
    std::map<std::string, std::unique_ptr<const TraceEvent>, std::less<>> by_name_;
    std::vector<Slot> by_id_;
};

// A word, as Events::match() takes it, without the "tracepoint:" that probes are written with.
std::string_view without_tracepoint(std::string_view word);

// Does a word, as Events::match() takes it, mean this event?
bool means_event(std::string_view word, std::string_view full_name);

}  // namespace gpufs
