#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/printable.h"
#include "view/columns.h"
#include "view/monitor/stack_frame.h"
#include "view/pictures/flame_svg.h"

namespace gpufs {

// The stacks of two runs.
struct StackDiff {
    std::vector<CountedStack> before, now;

    // The sums of the weights.
    std::uint64_t before_weight() const;
    std::uint64_t now_weight() const;

    // A function and what it weighed itself, without what it called: the stacks it is innermost of.
    struct Change {
        std::string frame;
        std::uint64_t before = 0, now = 0;
        double grown = 0;  // its share of all now, less that of before: -1 to 1
    };
    // Those that changed most first, by their share: runs of different length compare.
    std::vector<Change> changes() const;

    // Two graphs: of what is now, and of what was before, where that has its widths which is gone.
    std::vector<FlamePanel> panels(bool reversed) const;
};

// The `top` largest changes (0: all), below the totals:
//
//   before 1,000, now 1,200
//   BEFORE   SHARE  NOW   SHARE   CHANGE  FRAME
//      100  10.00%  180  15.00%   +5.00%  vfs_read
//
// Those that did not change are left out.
std::string diff_text(const StackDiff& diff, std::size_t top, Controls controls,
                      const Screen& screen = {});
// {"frame":"vfs_read","before":100,"now":180,"change":5.00}, a line each; the change is of the
// share, in percent.
std::string diff_json(const StackDiff& diff);

}  // namespace gpufs
