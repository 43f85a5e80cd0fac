#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/trace/context.h"
#include "engine/trace/event_search.h"
#include "lang/expr/eval.h"
#include "lang/expr/expr.h"
#include "lang/trace_dat/record_merge.h"

namespace gpufs {

// Which records of a trace are wanted: those of some events, those for which a condition holds. An
// event that lacks a field of the condition is not wanted. A stack is wanted with the record of the
// same stream before it.
class WantedRecords {
public:
    // `events` are words as match_events() takes them; empty: all. Throws what match_events()
    // throws, and SourceError when no event has the condition's fields. `context` is borrowed.
    WantedRecords(const KnownEvents& known, TraceContext& context,
                  const std::vector<std::string>& events, std::optional<Expression> condition);

    bool wants(const TraceRecord& record);
    bool is_stack(int id);

private:
    // What is decided about all records of one event.
    struct Decision {
        bool is_stack = false;
        bool is_wanted = false;
        std::optional<Condition> condition;
    };
    Decision& decide(int id);

    TraceContext& context_;
    std::vector<std::string> events_;
    std::optional<Expression> condition_;
    std::map<int, Decision> decisions_;
    std::vector<bool> last_was_wanted_;  // by stream
};

}  // namespace gpufs
