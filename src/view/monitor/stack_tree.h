#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "view/columns.h"

namespace gpufs {

// Stacks that are drawn together, or left out.
struct StackGroup {
    std::uint64_t weight = 0;
    std::size_t stacks = 0;

    StackGroup& operator+=(const StackGroup& other) {
        weight += other.weight;
        stacks += other.stacks;
        return *this;
    }
};

// How many stacks of each group are drawn where there is room for so many: by their weights, the
// heaviest groups first; of a group that is drawn, at least one.
std::vector<std::size_t> share_out(std::span<const StackGroup> groups, std::size_t room);

// Merges stacks that share their outer frames into a tree:
//
//       123  entry_SYSCALL_64
//            do_syscall_64
//        80    vfs_read
//        43    vfs_write
//
// A weight is printed where it changes, siblings in descending order; frames are indented only
// where stacks branch. Where not all stacks are drawn, the weights are still those of all, and a
// line tells what is left out: "43    and 2 more".
class StackTree {
public:
    // `frames`: the outermost first.
    void add(const std::vector<std::string>& frames, std::uint64_t weight);
    // `unit`: the unit of the weights. `most`: how many stacks are drawn.
    std::string to_text(std::string_view unit, const Screen& screen = {},
                        std::size_t most = std::numeric_limits<std::size_t>::max()) const;
    StackGroup all() const { return root_.all; }

private:
    struct Node {
        std::string frame;
        StackGroup all;
        std::vector<Node> callees;
    };
    struct Look {
        std::string_view unit;
        Screen screen;
    };
    static void append_nodes(std::string& out, const std::vector<Node>& nodes, std::size_t depth,
                             std::size_t room, const Look& look);

    Node root_;
};

}  // namespace gpufs
