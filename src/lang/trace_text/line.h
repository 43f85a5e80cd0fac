#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "lang/event/field_value.h"

namespace gpufs {

// A line of the kernel's file `trace`, or of trace-cmd report, in front of a record:
//
//         python3-5217    [001] d..2.   220.941431: sched_switch: prev_comm=python3 prev_pid=...
//   cpu:  python3-185     [000]    48.044576: sched_switch:         python3:185 [120] R ==> ...
struct TraceTextLine {
    std::string_view comm;
    CommonFields common;  // flags and depth as far as the letters tell
    int process = 0;      // 0: not told
    int cpu = 0;
    std::uint64_t time = 0;  // in ns, or what a clock counts that has no seconds
    bool is_ns = false;
    std::string_view event;  // "sched_switch"; empty where the line goes on without a name
    std::string_view text;   // behind it
};
// Absent where the line begins with no such columns. What it returns points into the line.
std::optional<TraceTextLine> parse_trace_line(std::string_view line);

// What stands between records: how many of a CPU were lost ("CPU:1 [LOST 5 EVENTS]", "CPU:1 [5
// EVENTS DROPPED]"; 0: not told how many).
struct LostLine {
    int cpu = 0;
    std::uint64_t count = 0;
};
std::optional<LostLine> parse_lost_line(std::string_view line);

// What the heading tells: "# entries-in-buffer/entries-written: 140/250   #P:4", "cpus=4".
struct TraceHeading {
    std::size_t cpus = 0;
    std::uint64_t overwritten = 0;  // records that the buffer no longer had
};
// Takes what the line tells; false if it is no line of a heading.
bool take_heading(std::string_view line, TraceHeading& heading);

// Whether a file that begins so is such text.
bool begins_as_trace_text(std::string_view begin);

}  // namespace gpufs
