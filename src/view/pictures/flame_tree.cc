#include "view/pictures/flame_tree.h"

#include "base/saturate.h"

namespace gpufs {

struct FlameTree::Places {
    std::uint64_t least;
    std::vector<FlameBox> boxes;
};

void FlameTree::Node::add(std::uint64_t more, std::uint64_t old_more) {
    weight = add_saturating(weight, more);
    old_weight = add_saturating(old_weight, old_more);
}

void FlameTree::add(std::span<const StackFrame> frames, std::uint64_t weight,
                    std::uint64_t old_weight) {
    if (weight == 0 && old_weight == 0) return;
    Node* at = &root_;
    at->add(weight, old_weight);
    for (const StackFrame& frame : frames) {
        at = &at->callees[frame];
        at->add(weight, old_weight);
    }
}

void FlameTree::place(const Node& node, FlameBox box, Places& places) {
    box.weight = node.weight;
    box.old_weight = node.old_weight;
    if (node.weight == 0 || node.weight < places.least) return;
    places.boxes.push_back(box);
    ++box.depth;
    for (const auto& [frame, callee] : node.callees) {
        box.frame = &frame;
        place(callee, box, places);
        box.left = add_saturating(box.left, callee.weight);
    }
}

std::vector<FlameBox> FlameTree::boxes(std::uint64_t least) const {
    Places places{least, {}};
    place(root_, {}, places);
    return std::move(places.boxes);
}

}  // namespace gpufs
