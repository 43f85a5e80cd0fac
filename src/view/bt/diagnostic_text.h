#pragma once

#include <string>
#include <string_view>

#include "base/source.h"

// Messages about places of a script in bpftrace's form:
//
//   open.bt:3:5-17: ERROR: Unknown function: prinf
//   prinf("hello")
//   ~~~~~~~~~~~~~~
namespace gpufs::bt {

// "open.bt:3:5-17"; of a place in several lines "open.bt:3-5".
std::string place_words(const PlacedMessage& at);
// The source line and what marks the place in it, each with its newline; empty for a place in
// several lines.
std::string marked_line(const PlacedMessage& at);
// The whole message, with its hint, and its newline. `severity` is ERROR or WARNING.
std::string diagnostic_text(std::string_view severity, const PlacedMessage& message);

}  // namespace gpufs::bt
