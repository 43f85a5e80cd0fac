#pragma once

#include "engine/places/kernel_facts.h"
#include "lang/adhoc/adhoc.h"

namespace gpufs {

// Gives `retval` of an event at a function's return the size and the sign of what the function
// returns, as the kernel's BTF or the file's debug information has it: an int is in the lower half
// of a register, and the upper half says nothing of its sign. Else it stays a whole register, with
// a sign.
void type_result(AdhocEvent& event, KernelFacts& machine);

}  // namespace gpufs
