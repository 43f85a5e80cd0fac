#pragma once

#include <functional>
#include <set>
#include <string>

#include "base/diagnostics.h"
#include "lang/program/program.h"

namespace gpufs {

// The programs and functions that lack lines, because these had mistakes.
using IncompleteCode = std::set<std::string, std::less<>>;

// Notes code that a kernel would not take, whatever fields, events and features the machine has:
// labels that are missing or there twice, jumps out of the code, code that runs off its end,
// accesses beyond the stack, writes to the context, calls that nest too deep. Of incomplete code it
// looks at the labels only.
//
// What it accepts has labels, targets and ends on every machine, however many guards there are; the
// time grows with the length of the text. So it may refuse code whose .if depend on one another in
// a way that it does not follow; an 'exit' outside of them mends that. Memory is checked as far as
// addresses are the same on all machines; link() looks at it again on one.
void check_code(const Program& program, const IncompleteCode& incomplete, Diagnostics& mistakes);

}  // namespace gpufs
