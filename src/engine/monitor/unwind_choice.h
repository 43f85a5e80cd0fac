#pragma once

#include <optional>

#include "engine/places/kernel_facts.h"
#include "lang/program/program.h"
#include "lang/unwind/unwind_code.h"

namespace gpufs {

// Whether the program keeps stacks and has values that are stacks of processes.
bool has_user_stacks(const Program& program);

// What this kernel has for walking user stacks by tables. Absent where that cannot be done.
std::optional<UnwindKernel> unwind_kernel(KernelFacts& machine);

}  // namespace gpufs
