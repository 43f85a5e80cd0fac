#pragma once

#include <string_view>

namespace gpufs {

// The second letter of "d..2." in the kernel's text: need-resched, lazy and preempt-resched as a
// number of three bits (trace_print_lat_fmt() in kernel/trace/trace_output.c).
inline constexpr std::string_view kReschedLetters = ".nlbpNLB";

}  // namespace gpufs
