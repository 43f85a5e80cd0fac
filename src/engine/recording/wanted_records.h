#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/recording/file.h"
#include "engine/trace/by_event_id.h"
#include "engine/trace/context.h"
#include "lang/event/open_events.h"
#include "lang/expr/eval.h"
#include "lang/expr/expr.h"
#include "lang/trace_dat/record_merge.h"

namespace gpufs {

// Which records of a trace are wanted.
struct RecordChoice {
    std::vector<std::string> events;      // words as Events::match() takes them; empty: all
    std::optional<Expression> condition;  // an event that lacks a field of it is not wanted
    std::vector<int> pids;                // of the tasks that made them; empty: all
    std::vector<unsigned> cpus;           // empty: all
    // In units of the trace clock, both ends included.
    std::uint64_t from = 0, to = std::numeric_limits<std::uint64_t>::max();
    // For next_seen(): those before `from` and behind `to`, too.
    bool looks_around = false;
};

// Picks the wanted records of a trace, and keeps the account of those that were lost. A stack is
// wanted with the event that it belongs to.
class WantedRecords {
public:
    // Throws what Events::match() throws, and SourceError when no event has the condition's fields.
    // `context` is borrowed.
    WantedRecords(TraceContext& context, RecordChoice choice);
    // Of a recording, which is rewound to where the first wanted record may be. Throws UsageError
    // for a CPU that it does not have, too.
    WantedRecords(TraceFile& file, RecordChoice choice);

    // The next wanted record of a source, anything with such a next(); null when it has none, or
    // only later ones. Good until the source is asked again. What was lost in front of records that
    // are not wanted is told with the next one of the same stream that is.
    template <class Source>
    const TraceRecord* next(Source& source) {
        while (true) {
            const Seen seen = next_seen(source);
            if (!seen.record || seen.wanted) return seen.wanted;
        }
    }
    // For what must see those that are not wanted, too: the next record between `from` and `to`, or
    // around them, and what next() gives for it, null where it is not wanted. Both are null at the
    // end.
    enum class Place { before, within, behind };
    struct Seen {
        const TraceRecord* record = nullptr;
        const TraceRecord* wanted = nullptr;
        Place place = Place::within;
    };
    template <class Source>
    Seen next_seen(Source& source) {
        while (const TraceRecord* record = source.next()) {
            if (record->timestamp > choice_.to) {
                is_behind_ = true;
                return choice_.looks_around ? Seen{record, nullptr, Place::behind} : Seen{};
            }
            if (choice_.looks_around && record->timestamp < choice_.from)
                return {record, nullptr, Place::before};
            const TraceRecord* wanted = take(*record);
            if (record->timestamp >= choice_.from) return {record, wanted};
        }
        has_ended_ = !is_behind_;
        return {};
    }
    bool is_stack(int id) { return decision(id).is_stack; }

    // What was lost among all records that the source gave out.
    LossLedger losses() const;
    // The same of one CPU.
    Loss lost_on(int cpu) const;
    // Whether a record between `from` and `to`, wanted or not, was among them.
    bool has_reached_range() const { return has_reached_range_; }
    // Those of the wanted pids that made none of the records there.
    std::vector<int> missing_pids() const;

private:
    // What is decided about all records of one event.
    struct Decision {
        bool is_stack = false;
        bool is_wanted = false;
        std::optional<Condition> condition;
        bool needs_comm = false;
    };
    struct Stream {
        OpenEvents<bool> events;  // whether they are wanted
        Loss lost;                // to be told with the next record
        Loss all_lost;
        int cpu = 0;
    };
    const TraceRecord* take(const TraceRecord& record);
    Loss all_lost(const Stream& stream) const;
    bool wants(const TraceRecord& record, Stream& stream);
    bool holds(const Decision& about, const TraceRecord& record, int pid) const;
    const Decision& decision(int id) {
        return decisions_.get(id, [this](int one) { return decide(one); });
    }
    Decision decide(int id);

    TraceContext& context_;
    RecordChoice choice_;
    ByEventId<Decision> decisions_;
    std::vector<Stream> streams_;
    bool has_reached_range_ = false;
    std::vector<bool> seen_pids_;                 // for each of the choice's
    TraceRecord told_;                            // a record with what was lost before others
    const TraceFile* file_ = nullptr;             // null: another source
    bool is_behind_ = false, has_ended_ = false;  // the source has no more records
    std::size_t gaps_ = 0;                        // the places where some were lost
};

}  // namespace gpufs
