#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/source.h"
#include "engine/symbols/debug_info.h"

namespace gpufs {

// Lines of a source file, and at which of them a probe can be.
struct SourceListing {
    std::string path;       // as the compiler was given it
    std::string function;   // empty: the whole file
    bool has_text = false;  // whether the source file is here
    struct Line {
        std::uint64_t number = 0;
        std::string text;
        bool can_probe = false;
    };
    std::vector<Line> lines;  // all between the first and the last; without the text only these
};

// Of a function, each that has the name; or of a source file. Throws SourceError, located at `at`,
// if the program is made of no such thing.
std::vector<SourceListing> list_source(DebugInfo& info, const SourceText& source, Span at,
                                       const std::string& name);

}  // namespace gpufs
