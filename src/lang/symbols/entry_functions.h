#pragma once

#include <span>
#include <string>

namespace gpufs {

// Whether the kernel was entered from user mode by an interrupt or a fault, and not by a system
// call, as far as the functions of its stack say it, innermost first.
bool is_entered_by_interrupt(std::span<const std::string> functions);

}  // namespace gpufs
