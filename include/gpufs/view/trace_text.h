#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpufs/engine/record_merge.h"
#include "gpufs/engine/trace_context.h"

namespace gpufs {

// Prints records as the kernel's `trace` file prints them, byte for byte:
//
//         python3-5217    [001] d..2.   220.941431: sched_switch: prev_comm=python3 prev_pid=...
//
// Times are right where the kernel's own text is not: it forgets the time that discarded records
// took. Other differences: pointers are printed where the kernel hashes them (option hash-ptr); "?"
// stands for a value that only the kernel could compute; an event whose print fmt cannot be
// followed prints its fields; function graphs and latency tracers print through their print fmt.
class TraceText {
public:
    // `context` is borrowed.
    explicit TraceText(TraceContext& context) : context_(context) {}

    // Appends the record's line or lines, each with its newline; first "CPU:1 [LOST 5 EVENTS]"
    // where events were lost.
    void print(const TraceRecord& record, std::string& out);

private:
    enum class Kind {
        unknown,  // no event of this id
        event,
        syscall_enter,
        syscall_exit,
        probe,
        probe_return,
        function,
        kernel_stack,
        user_stack,
        print,
        binary_print,
        puts,
        raw_data,
    };
    // How records of one id are printed.
    struct Printer {
        Kind kind = Kind::unknown;
        const CatalogEvent* event = nullptr;
        std::optional<PrintFormat> own;  // instead of the event's
        // Fields that the kind is printed from.
        std::vector<const Field*> fields;
    };
    const Printer& printer(int id);
    Printer make_printer(int id);

    void print_context(const TraceRecord& record, std::string& out);
    void print_event(const Printer& p, const TraceRecord& record, std::string& out);
    void print_address(std::uint64_t address, bool with_offset, std::string& out);
    void print_stack(const Printer& p, const TraceRecord& record, std::string& out);
    void print_user_stack(const Printer& p, const TraceRecord& record, std::string& out);

    TraceContext& context_;
    std::vector<std::unique_ptr<Printer>> printers_;  // by id
    std::vector<bool> cpu_started_;
    bool is_first_ = true;
};

// The fields every record starts with (struct trace_entry).
struct CommonFields {
    unsigned flags = 0;          // common_flags
    unsigned preempt_count = 0;  // common_preempt_count
    int pid = 0;                 // common_pid
};
CommonFields common_fields(RecordBytes record);
// "d..2.": interrupts, need-resched, hard and soft interrupt, preempt and migrate-disable depth.
// `lazy`: the kernel knows lazy rescheduling.
void append_irq_info(std::string& out, const CommonFields& common, bool lazy);

// Where the records of an event hold a stack; no field for an event that is none.
struct StackField {
    const Field* field = nullptr;
    bool is_user = false;
};
StackField stack_field(const EventFormat& format);

// The addresses of a stack record, from its `caller` field on.
std::vector<std::uint64_t> stack_of(const Field& caller, RecordBytes record, bool is_user);
// "[unknown/kretprobe'd]", or the function's name; "0x..." where it is not known.
void append_function(std::string& out, std::uint64_t address, const AddressNames& names,
                     bool with_offset);

}  // namespace gpufs
