#pragma once

#include <string>
#include <vector>

#include "view/pictures/flame_tree.h"

namespace gpufs {

// One flame graph of a picture.
struct FlamePanel {
    // Whose weights the widths are, where two runs are compared. Frames are then red where their
    // share grew, blue where it shrank.
    enum class Compared { no, now, before };

    std::string title;
    std::string unit;  // of the weights; empty: they count samples
    FlameTree tree;
    Compared compared = Compared::no;
};

struct FlameLook {
    std::string title;
    bool is_icicle = false;  // the whole on top
};

// A flame graph as an SVG file of its own. Boxes have their exact places: data-x and data-w in the
// unit of the weights, data-d the depth; and a title "name (1,234 samples, 5.67%)". Those that
// would be narrower than a tenth of a pixel are left out. In a browser its script lays it out for
// the window, and zooms, searches and goes from frame to frame.
std::string flame_svg(const std::vector<FlamePanel>& panels, const FlameLook& look);

}  // namespace gpufs
