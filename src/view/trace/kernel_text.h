#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/trace/by_event_id.h"
#include "engine/trace/context.h"
#include "lang/trace_dat/record_merge.h"
#include "view/trace/ftrace_event.h"
#include "view/trace/syscall_entry.h"

namespace gpufs {

// Prints records as the kernel's `trace` file prints them, byte for byte:
//
//         python3-5217    [001] d..2.   220.941431: sched_switch: prev_comm=python3 prev_pid=...
//
// Times are right where the kernel's own text is not: it forgets the time that discarded records
// took. Other differences: pointers are printed where the kernel hashes them (option hash-ptr); "?"
// stands for a value that only the kernel could compute; an event whose print fmt cannot be
// followed prints its fields; function graphs and latency tracers print through their print fmt.
class KernelText {
public:
    // `context` is borrowed.
    explicit KernelText(TraceContext& context) : context_(context) {}

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
        ftrace,
    };
    // How records of one id are printed.
    struct Printer {
        Kind kind = Kind::unknown;
        const TraceEvent* event = nullptr;
        std::optional<PrintFormat> own;  // instead of the event's
        std::optional<SyscallEntryText> call;
        FtraceEvent ftrace;
        // Fields that the kind is printed from.
        std::vector<const Field*> fields;
    };
    Printer make_printer(int id);

    void print_context(const TraceRecord& record, std::string& out);
    void print_event(const Printer& p, const TraceRecord& record, std::string& out);
    void print_probe(const Printer& p, RecordBytes bytes, std::string& out);
    void print_ftrace(const FtraceEvent& event, RecordBytes bytes, std::string& out);
    void print_address(std::uint64_t address, bool with_offset, std::string& out);
    void print_stack(const Field& field, RecordBytes bytes, std::string& out);
    void print_user_stack(const Field& field, RecordBytes bytes, std::string& out);

    TraceContext& context_;
    ByEventId<Printer> printers_;
    std::vector<bool> cpu_started_;
    bool is_first_ = true;
};

// "d..2.": interrupts, need-resched, hard and soft interrupt, preempt and migrate-disable depth, as
// the kernel that the options are of has it.
void append_irq_info(std::string& out, const CommonFields& common, const TraceOptions& options);

// The task's name in 16 characters, as "%16s".
void append_comm(std::string& out, std::string_view comm, Controls controls);

// Escapes control characters in the line from `start` on, but not the newline at its end.
void make_line_printable(std::string& out, std::size_t start, Controls controls);

// The process of the task that made a record; where it is not known, as if the task were one.
int process_of(const TraceContext& context, const TraceRecord& record);
// What the recording knows of the user addresses of a record's process; nothing where these are of
// the kernel. Borrows the context's.
AddressNames user_names(const TraceContext& context, const TraceRecord& record, bool is_user);

// "[unknown/kretprobe'd]", or the function's name; "0x..." where it is not known.
void append_function(std::string& out, std::uint64_t address, const AddressNames& names,
                     bool with_offset);
// The same for a frame of a stack.
void append_frame(std::string& out, std::uint64_t address, FramePlace place,
                  const AddressNames& names, bool with_offset);

}  // namespace gpufs
