#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "bt/syntax/ast.h"
#include "bt/types/compiled.h"
#include "bt/types/typed.h"
#include "bt/types/world.h"

namespace gpufs::bt {

// What a script depends on besides its text.
struct CompileOptions {
    std::string name = "script";
    TypeOptions types;
    std::uint64_t start_ns = 0;      // CLOCK_MONOTONIC: `elapsed` counts from here
    std::uint64_t tai_ahead_ns = 0;  // of CLOCK_MONOTONIC, where CLOCK_TAI was at the start
    // The map without keys whose number is the time of tseries(), for tests: without the @.
    std::string clock_map;
    std::uint64_t cpus = 1;
    std::vector<int> pids;  // only hits of these processes or threads count; empty: all
    OutputConfig output;
    std::string licence = "Dual MIT/GPL";
    bool tells_failures = false;  // elements that are not there
    bool keeps_stages = false;    // for Compiled::types_text and ir_text
};

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
