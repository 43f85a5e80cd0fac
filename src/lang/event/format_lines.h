#pragma once

#include <string_view>

namespace gpufs {

// Checks that a format file, up to its "print fmt", has the form that the kernel writes:
//
//   name: sched_switch
//   ID: 372
//   format:
//   <tab>field:char prev_comm[16];<tab>offset:8;<tab>size:16;<tab>signed:0;
//
// with an empty line after the common fields and after the event's own (f_show() in
// kernel/trace/trace_events.c). libtraceevent may crash on anything else. `system` is used in the
// error message. Throws Error, which quotes the line.
void check_format_lines(std::string_view system, std::string_view text);

}  // namespace gpufs
