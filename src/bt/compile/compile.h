#pragma once

#include <functional>

#include "bt/syntax/ast.h"
#include "bt/types/compile_options.h"
#include "bt/types/world.h"

namespace gpufs::bt {

// Compiles a script for the events and types of a World. Throws UsageError with all mistakes.
Compiled compile(const Script& script, World& world, const CompileOptions& options);

// The options with what the script's config block says, and the variables BPFTRACE_NAME of the
// environment, which win. Throws UsageError with the mistakes.
CompileOptions with_config(CompileOptions options, const Script& script,
                           const std::function<const char*(const char*)>& environment);

// Puts what config() tells, `config().max_strlen` and `config.max_strlen`, in its place. Throws
// UsageError for settings that there are not.
void put_config(Script& script, const CompileOptions& options);

}  // namespace gpufs::bt
