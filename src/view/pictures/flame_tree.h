#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "view/monitor/stack_frame.h"

namespace gpufs {

// One frame of a flame graph. Positions are in the unit of the weights, from the left.
struct FlameBox {
    const StackFrame* frame = nullptr;  // the tree's; null for the box below all: the whole
    std::size_t depth = 0;              // 0 for the whole
    std::uint64_t left = 0, weight = 0;
    std::uint64_t old_weight = 0;  // see FlameTree::add()
};

// Counted stacks, merged where their outer frames are the same.
class FlameTree {
public:
    // The outermost frame of a stack, and what it weighs now; for a comparison also what it weighed
    // before. Sums that do not fit into 64 bits stay at the largest number.
    void add(std::span<const StackFrame> frames, std::uint64_t weight,
             std::uint64_t old_weight = 0);

    std::uint64_t weight() const noexcept { return root_.weight; }
    std::uint64_t old_weight() const noexcept { return root_.old_weight; }

    // The boxes of at least this weight, each behind its caller and siblings in the order of their
    // names, so that the same stacks give the same picture. Valid as long as the tree.
    std::vector<FlameBox> boxes(std::uint64_t least) const;

private:
    struct Node {
        std::uint64_t weight = 0, old_weight = 0;
        std::map<StackFrame, Node> callees;

        void add(std::uint64_t more, std::uint64_t old_more);
    };
    struct Places;
    static void place(const Node& node, FlameBox box, Places& places);

    Node root_;
};

}  // namespace gpufs
