#pragma once

#include <string>
#include <vector>

#include "base/symbol.h"
#include "lang/event/event_format.h"
#include "lang/event/field_value.h"

namespace gpufs {

// Events of ftrace itself, which are not formatted by their print fmt.
enum class FtraceKind {
    none,  // any other event
    function,
    kernel_stack,
    user_stack,
    print,
    binary_print,
    puts,
    raw_data,
};

struct FtraceEvent {
    FtraceKind kind = FtraceKind::none;
    // The fields to show, in this order; they point into the format.
    //   function      ip, parent_ip     print         ip, buf           raw_data      id, buf
    //   kernel_stack  caller            binary_print  ip, fmt, buf
    //   user_stack    caller            puts          ip, str
    std::vector<const Field*> fields;

    // A stack is printed in several lines.
    bool is_stack() const {
        return kind == FtraceKind::kernel_stack || kind == FtraceKind::user_stack;
    }
};

// Appends ": " and the text of a print, bprint or bputs; with a newline where it cannot be known.
void append_message(std::string& out, const FtraceEvent& event, RecordBytes record,
                    const AddressNames& names);

// FtraceKind::none also if a field is missing. `format` must outlive the result.
FtraceEvent find_ftrace_event(const EventFormat& format);

}  // namespace gpufs
