#pragma once

#include <cstddef>
#include <string_view>

#include "lang/program/program.h"

namespace gpufs {

// The guard for code that needs a feature of the kernel, or its absence, within the guard `outer`.
// As CodeItem has it: an index into Program::guards plus 1. Adds the guard where there is none.
std::size_t feature_guard(Program& program, std::string_view feature, bool is_there,
                          const SourceRef& at, std::size_t outer = 0);

// Appends code that is there only where the guard holds.
void append_guarded(std::vector<CodeItem>& to, std::vector<CodeItem> code, std::size_t guard);

}  // namespace gpufs
