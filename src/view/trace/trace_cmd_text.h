#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/trace/by_event_id.h"
#include "engine/trace/context.h"
#include "lang/trace_dat/record_merge.h"
#include "view/trace/ftrace_event.h"

namespace gpufs {

// Formats records like `trace-cmd report`:
//
//            python3-5217  [001]   220.941431: sched_switch:         python3:5217 [120] S ==> ...
//
// gpufs-report(1) lists the differences.
class TraceCmdText {
public:
    // `context` must outlive this object.
    explicit TraceCmdText(TraceContext& context) : context_(context) {}
    TraceCmdText(const TraceCmdText&) = delete;
    TraceCmdText& operator=(const TraceCmdText&) = delete;

    // Appends the record's line or lines, each with its newline, prefixed by `buffer`. If events
    // were lost before it, adds a line "CPU:1 [5 EVENTS DROPPED]" first.
    void print(const TraceRecord& record, std::string_view buffer, std::string& out) {
        print(prepare(record), record, buffer, out);
    }

    // How to format the records of one event id.
    struct Printer {
        bool is_known = false;  // there is an event with this id
        std::string title;      // "sched_switch:         "
        std::optional<PrintFormat> text;
        FtraceEvent ftrace;  // used if there is no `text`
    };
    // What a record's text owes to the records before it: records are prepared in their order.
    struct Prepared {
        const Printer* printer = nullptr;
        std::string_view comm;  // borrowed from the context
        std::size_t depth = 0;  // of a traced function
        int process = 0;        // of a user stack
    };
    Prepared prepare(const TraceRecord& record);
    // The same text as above, in any order and by several threads at a time, if the context's
    // functions can be called so.
    void print(const Prepared& prepared, const TraceRecord& record, std::string_view buffer,
               std::string& out) const;

private:
    Printer make_printer(int id);

    void print_context(const Prepared& prepared, const TraceRecord& record, std::string& out) const;
    void print_ftrace(const Prepared& prepared, const TraceRecord& record, std::string& out) const;
    void print_function(std::uint64_t address, std::string& out) const;
    std::size_t depth(int cpu, std::uint64_t caller, std::uint64_t function);
    std::uint64_t start_of(std::uint64_t address) const;

    TraceContext& context_;
    ByEventId<Printer> printers_;
    std::map<int, std::vector<std::uint64_t>> calls_;  // by CPU: traced functions, outermost first
};

}  // namespace gpufs
