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

    // Appends the record's line or lines, each with its newline, prefixed by `buffer`. If events
    // were lost before it, adds a line "CPU:1 [5 EVENTS DROPPED]" first.
    void print(const TraceRecord& record, std::string_view buffer, std::string& out);

private:
    // How to format the records of one event id.
    struct Printer {
        bool is_known = false;  // there is an event with this id
        std::string title;      // "sched_switch:         "
        std::optional<PrintFormat> text;
        FtraceEvent ftrace;  // used if there is no `text`
    };
    Printer make_printer(int id);

    void print_context(const TraceRecord& record, std::string& out);
    void print_ftrace(const FtraceEvent& event, const TraceRecord& record, std::string& out);
    void print_function(std::uint64_t address, std::string& out);
    std::size_t depth(int cpu, std::uint64_t caller, std::uint64_t function);
    std::uint64_t start_of(std::uint64_t address) const;

    TraceContext& context_;
    ByEventId<Printer> printers_;
    std::map<int, std::vector<std::uint64_t>> calls_;  // by CPU: traced functions, outermost first
};

}  // namespace gpufs
