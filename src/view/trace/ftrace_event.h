#pragma once

#include <vector>

#include "lang/event/event_format.h"

namespace gpufs {

// The tracer's own events, which are shown in forms of their own and not by their print fmt.
enum class FtraceKind {
    none,  // another event
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
    // What the kind is shown by, in this order; they are the format's.
    //   function      ip, parent_ip     print         ip, buf           raw_data      id, buf
    //   kernel_stack  caller            binary_print  ip, fmt, buf
    //   user_stack    caller            puts          ip, str
    std::vector<const Field*> fields;
};

// `none` where a field is missing, too. `format` must outlive the result.
FtraceEvent find_ftrace_event(const EventFormat& format);

}  // namespace gpufs
