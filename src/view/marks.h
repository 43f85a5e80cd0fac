#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "view/columns.h"

namespace gpufs {

// The marks that text is drawn with: blocks where the screen has them, else ASCII.

// A bar that fills a share (0 to 1) of so many columns, and spaces behind it.
void append_bar(std::string& out, double share, std::size_t columns, Plot plot);

// A mark for each value, as high as its share of the greatest one: "▁▂▄█". Where a value is 0 or
// less, a space.
std::string sparkline(std::span<const double> values, Plot plot);

// The marks of cells, by level from 1 to heat_levels(): the higher, the stronger. A run of equal
// levels is given at once, so that colours are set once. Level 0 is a space.
std::size_t heat_levels(Plot plot);
void append_cells(std::string& out, std::size_t level, std::size_t columns, Plot plot);

}  // namespace gpufs
