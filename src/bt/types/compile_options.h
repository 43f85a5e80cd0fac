#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bt/types/compiled.h"
#include "bt/types/typed.h"

namespace gpufs::bt {

// What a script depends on besides its text.
struct CompileOptions {
    std::string name = "script";
    TypeOptions types;
    // Where `elapsed` counts from: CLOCK_MONOTONIC, or of the recording. Asked for where a script
    // has it: a recording is read for it.
    std::function<std::uint64_t()> start_ns = [] { return std::uint64_t{0}; };
    std::uint64_t tai_ahead_ns = 0;  // of CLOCK_MONOTONIC, where CLOCK_TAI was at the start
    // The map without keys whose number is the time of tseries(), for tests: without the @.
    std::string clock_map;
    std::uint64_t cpus = 1;
    std::uint64_t ring_bytes = 2 << 20;  // a power of two of pages: of the ring for records
    std::vector<int> pids;  // only hits of these processes or threads count; empty: all
    OutputConfig output;
    std::string licence = "Dual MIT/GPL";
    bool tells_failures = false;  // elements that are not there, memory that cannot be read
    bool keeps_stages = false;    // for Compiled::types_text and ir_text
};

}  // namespace gpufs::bt
