#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpufs/engine/record_merge.h"
#include "gpufs/engine/trace_context.h"

namespace gpufs {

// Prints records as `trace-cmd report` prints them:
//
//            python3-5217  [001]   220.941431: sched_switch:         python3:5217 [120] S ==> ...
//
// gpufs-report(1) lists where the two differ.
class TraceCmdText {
public:
    // `context` is borrowed.
    explicit TraceCmdText(TraceContext& context) : context_(context) {}

    // Appends the record's line or lines, each with its newline; `buffer` stands in front. First
    // "CPU:1 [5 EVENTS DROPPED]" where events were lost.
    void print(const TraceRecord& record, std::string_view buffer, std::string& out);

private:
    enum class Kind {
        unknown,  // no event of this id
        event,
        function,
        kernel_stack,
        user_stack,
        print,
        binary_print,
        puts,
    };
    // How records of one id are printed.
    struct Printer {
        Kind kind = Kind::unknown;
        std::string title;  // "sched_switch:         "
        std::optional<PrintFormat> text;
        // Fields that the kind is printed from.
        std::vector<const Field*> fields;
    };
    const Printer& printer(int id);
    Printer make_printer(int id);

    void print_context(const TraceRecord& record, std::string& out);
    void print_event(const Printer& p, RecordBytes bytes, std::string& out);
    void print_function(std::uint64_t address, std::string& out);

    TraceContext& context_;
    std::vector<std::unique_ptr<Printer>> printers_;  // by id
};

}  // namespace gpufs
