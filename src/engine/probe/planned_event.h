#pragma once

#include <string>
#include <vector>

#include "base/source.h"

namespace gpufs {

// An event that is to be made: all places of a static probe, or of a line of source, whose
// arguments have one form.
struct PlannedEvent {
    std::string name;
    struct Place {
        std::string text;                    // "/usr/lib/libx.so:0x1139(0x4010)"
        std::vector<std::string> arguments;  // "arg0=%di:s32"
    };
    std::vector<Place> places;
    std::vector<Span> arguments_at;  // of the words that the user wrote; else of the place
};

}  // namespace gpufs
