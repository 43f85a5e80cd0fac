#pragma once

#include <span>
#include <string>

#include "lang/link/link.h"
#include "lang/program/program.h"

namespace gpufs {

// The values that "name=value" words give to a program's parameters. A number counts what the
// parameter counts; times and sizes may have units of their own: min=10ms for one in "us". Throws
// UsageError, with a "did you mean", for a name that no parameter has and a value that is none.
ParameterValues parse_program_arguments(const Program& program, std::span<const std::string> words);

// "  min_us=10000  us  print waits of this length and more", a line each; empty without parameters.
std::string parameters_text(const Program& program);

}  // namespace gpufs
