#pragma once

#include <string>

#include "view/columns.h"
#include "view/monitor/value_text.h"
#include "view/pictures/heat_svg.h"

namespace gpufs {

// A heat map for a terminal, as wide as the screen, or 80 columns where that has no end: time to
// the right, the value upwards, by powers of two or in steps. The more came to a cell, the stronger
// its mark, by rank among the cells. Below it a sparkline of how much came at a time.
//
//   Run queue latency, by time
//      64 us |  .       @          #|
//      32 us |  = @    +            |
//            |0       100 ms   200 ms
//      count |  . :    =         @|
//   from 04:12:07.118204; a column is 12.5 ms, with at most 12
//   a cell has 1 to 9, by rank: .:-=+*#@
//
// Empty where nothing was counted.
std::string heat_text(const HeatPanel& panel, const TimeText& time_text, const Screen& screen);

}  // namespace gpufs
