#pragma once

#include <string>
#include <vector>

#include "base/source.h"
#include "view/monitor/stack_frame.h"

namespace gpufs {

// The stacks of folded lines, "make;main;read 80", as folded_text() and other tools write them;
// empty lines are none. What kind of code a frame is, they do not say: all are FrameKind::user.
// Throws SourceError, with the line, for one without a count, and for a stack of more than 4,096
// frames.
std::vector<CountedStack> parse_folded(const SourceText& source);

// A frame or a name as a field of a folded line: without what ends fields and lines, and never
// empty, since readers leave empty fields out.
std::string folded_field(std::string text);

}  // namespace gpufs
