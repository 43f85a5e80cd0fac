#pragma once

#include <functional>
#include <string>
#include <vector>

#include "view/pictures/heat_map.h"

namespace gpufs {

// One heat map of a picture.
struct HeatPanel {
    std::string title;
    std::string unit;  // of the values
    HeatMap map;
};

// The words for a time, as everywhere in the run: "04:12:07.118204".
using TimeText = std::function<std::string(std::uint64_t ns)>;

// Heat maps as an SVG file of its own, without those where nothing was counted: time to the right,
// values upwards, by their logarithm where their histograms are. The more came, the stronger a
// cell's colour, by rank among the cells: one with a million does not make all others pale. p50,
// p95 and p99 of each column are lines; the margins have the sums of columns and rows. A cell has
// its count as data-n, its row as data-r, and its column's times are above it. In a browser its
// script tells what is under the pointer.
std::string heat_svg(const std::vector<HeatPanel>& panels, const std::string& title,
                     const TimeText& time_text);

}  // namespace gpufs
