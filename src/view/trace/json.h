#pragma once

#include <string>
#include <vector>

#include "base/loss.h"
#include "engine/trace/by_event_id.h"
#include "engine/trace/context.h"
#include "lang/trace_dat/record_merge.h"
#include "view/trace/kernel_text.h"

namespace gpufs {

// Prints records as JSON, one line each:
//
//   {"time":220.941431456,"cpu":1,"comm":"python3","tid":5217,"event":"sched:sched_switch",
//    "fields":{"prev_comm":"python3","prev_pid":5217,...},"flags":"d..2."}
//   {"lost":5,"cpu":1}
//
// `time` is in seconds, or the bare count where the trace_clock counts something else. Numbers are
// numbers, arrays are arrays of numbers, text is text; a structure is an array of its bytes. `lost`
// is null when the kernel does not say how many. A stack has "stack":["schedule",...] instead of
// fields, a user's stack "stack":["0x7f..."]. An event that is not known has its id, and its bytes
// as "data". `pid`, the process, is there with the option record-tgid.
class TraceJson {
public:
    // `context` is borrowed.
    explicit TraceJson(TraceContext& context) : context_(context) {}

    // Appends the record's line with its newline; first one for what was lost.
    void print(const TraceRecord& record, std::string& out);

private:
    // What every record of one event has in common, made once.
    struct Plan {
        const TraceEvent* event = nullptr;
        std::string name;  // ,"event":"sched:sched_switch"
        StackField stack;
        struct Member {
            const Field* field;
            std::string key;  // "prev_comm":
        };
        std::vector<Member> members;
    };
    Plan make_plan(int id);
    void print_stack(const Plan& plan, const TraceRecord& record, std::string& out);

    TraceContext& context_;
    ByEventId<Plan> plans_;
};

// The last line below records: {"summary":{"records":5,"lost":0,"losses":[...]}}.
std::string records_summary_json(std::size_t records, const LossLedger& losses);

// A record's time: seconds with nine digits behind the point, or the bare count of a clock that
// counts something else.
void append_trace_time(std::string& out, std::uint64_t time, bool is_ns);

// A field's value as JSON.
void append_json_value(std::string& out, const Field& field, RecordBytes record);

}  // namespace gpufs
