#pragma once

#include <string>
#include <vector>

#include "engine/results/report_rows.h"
#include "lang/program/program.h"
#include "view/monitor/stack_frame.h"
#include "view/monitor/value_text.h"

namespace gpufs {

// The stacks of a report's rows, of which the cells of the key are the outermost frames; their
// weights are in stack_unit(). None where the key has no stack.
std::vector<CountedStack> counted_stacks(const MapDeclaration& map, const ReportRows& rows,
                                         ValueWriter& values);

// A line a stack as flamegraph.pl reads it, the outermost frame first:
// "make;main;read;do_syscall_64;vfs_read 80". Empty where the key has no stack.
std::string folded_text(const MapDeclaration& map, const ReportRows& rows, ValueWriter& values);

}  // namespace gpufs
