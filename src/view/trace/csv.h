#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/trace/by_event_id.h"
#include "engine/trace/context.h"
#include "lang/trace_dat/record_merge.h"
#include "view/trace/kernel_text.h"

namespace gpufs {

// Prints records as a table with commas between the cells (RFC 4180, lines end with "\n"):
//
//   time,cpu,pid,comm,event,fields
//   220.941431456,1,5217,python3,sched:sched_switch,prev_comm=python3 prev_pid=5217 ...
//
// For one event, each of its fields is a column of its own. Numbers are as the record has them, a
// stack is its functions with ";" between.
class RecordCsv {
public:
    // `context` is borrowed. `only`: the one event of the table, as "system:name"; empty for all.
    RecordCsv(TraceContext& context, std::string_view only);

    std::string header() const;
    // Appends the record's line. In a table of one event, nothing for others: stacks have no place
    // in its columns.
    void print(const TraceRecord& record, std::string& out);

private:
    // What every record of one event has in common, made once.
    struct Plan {
        const TraceEvent* event = nullptr;
        std::string name;  // its cell
        StackField stack;
    };
    Plan make_plan(int id) const;
    void append_cell(std::string& out, std::string_view text) const;

    TraceContext& context_;
    const TraceEvent* only_ = nullptr;
    ByEventId<Plan> plans_;
    std::string cell_;
};

}  // namespace gpufs
