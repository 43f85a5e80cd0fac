#pragma once

#include <string_view>

namespace gpufs {

// Checks that a format file, up to its "print fmt", is one as the kernel writes it:
//
//   name: sched_switch
//   ID: 372
//   format:
//   <tab>field:char prev_comm[16];<tab>offset:8;<tab>size:16;<tab>signed:0;
//
// and an empty line behind the common fields and the event's own (f_show() of
// kernel/trace/trace_events.c). libtraceevent reads nothing else without harm. `system` is for the
// message. Throws Error, which quotes the line.
void check_format_lines(std::string_view system, std::string_view text);

}  // namespace gpufs
