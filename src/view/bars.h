#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "view/columns.h"

namespace gpufs {

struct CountedRow {
    std::string label;
    std::uint64_t count = 0;
};

// Rows with bars as long as their counts are large, as bpftrace and bcc draw them:
//
//   us                      count
//   [64K, 128K)                 7 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
//   [128K, 256K)                1 |@@@@@                                   |
//
// From the first row that is not empty to the last; more than three empty ones in a row are one
// row of dots. Empty where nothing was counted. The bars get narrower where the screen is. Where it
// plots with blocks, they are exact to an eighth of a column.
std::string bars_text(std::span<const CountedRow> rows, std::string_view title,
                      const Screen& screen);

}  // namespace gpufs
