#pragma once

#include <string>

#include "lang/program/code.h"

namespace gpufs::bt {

// Something wrong in a script. Thrown by the passes of the parser to their nearest place of
// recovery, and collected there.
struct Mistake {
    SourceRef at;
    std::string message, hint;
};

}  // namespace gpufs::bt
