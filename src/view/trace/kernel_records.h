#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/printable.h"

namespace gpufs {

// Divides the text of tracefs' files `trace` and `snapshot` into records. The kernel writes names
// of tasks and texts as they are, so a newline in them ends a line but not the record:
//
//              evil
//    x-5217    [001] d..2.   220.941431: sched_switch: prev_comm=evil
//    x prev_pid=5217 ...
//
// A record begins where its first columns do: a name in 16 characters, "-PID [CPU] flags time: ".
// A task's name of 15 bytes cannot look like them; a longer text that others chose (of a file, say)
// can: the raw records, which KernelText prints, tell exactly. Lines in front of the first such
// columns (the heading), and those of tracers with other columns (function_graph), are a record
// each.

// How long the first record of `text` is, with its newline; 0 if its end is not there. `is_all`: no
// more text comes.
std::size_t first_record_length(std::string_view text, bool is_all);

// Whether the record is a stack: "<stack trace>" and a line each for its functions.
bool is_stack_record(std::string_view record);

// Appends the record in one line, or in the lines of its stack, with control characters escaped.
void append_record(std::string& out, std::string_view record, Controls controls);

}  // namespace gpufs
