#pragma once

#include <span>
#include <string>

#include "lang/link/link.h"
#include "lang/program/program.h"

namespace gpufs {

// Parses "name=value" words for a program's parameters. A plain number is in the parameter's unit;
// times and sizes may carry their own unit: min=10ms for a parameter in "us". Throws UsageError,
// with a "did you mean", for an unknown name or an invalid value.
ParameterValues parse_program_arguments(const Program& program, std::span<const std::string> words);

// One line per parameter: "  min_us=10000  us  print waits of this length and more". Empty without
// parameters.
std::string parameters_text(const Program& program);

}  // namespace gpufs
