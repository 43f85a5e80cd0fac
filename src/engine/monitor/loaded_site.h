#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/places/sites.h"

namespace gpufs {

// Whether a place has the user's condition in front of its program.
enum class ConditionUse {
    none,         // there is no condition
    asked,        // it has
    lacks_field,  // it has not: there is no such field
    at_begin,     // it has not: the programs that begin what this one ends have it
    at_end,       // it has not: the programs that end what this one begins have it
};

// A place, its program, and how it is served: what --explain tells.
struct LoadedSite {
    enum class Way {
        as_written,      // as the text says
        raw_tracepoint,  // a tracepoint whose record is not read, at the raw one
        raw_syscall,     // the same at raw_syscalls:sys_enter, for one system call
        all_syscalls,    // a system call's event, at that of all of them
        recording,       // by the interpreter, for each record
    };
    ProbeSite site;
    ConditionUse condition = ConditionUse::none;
    Way way = Way::as_written;
    std::size_t insns = 0;
};

}  // namespace gpufs
