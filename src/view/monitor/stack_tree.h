#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "view/columns.h"

namespace gpufs {

// Merges stacks that share their outer frames into a tree:
//
//       123  entry_SYSCALL_64
//            do_syscall_64
//        80    vfs_read
//        43    vfs_write
//
// A weight is printed where it changes, siblings in descending order; frames are indented only
// where stacks branch.
class StackTree {
public:
    // `frames`: the outermost first.
    void add(const std::vector<std::string>& frames, std::uint64_t weight);
    // `unit`: the unit of the weights.
    std::string to_text(std::string_view unit, const Screen& screen = {}) const;

private:
    struct Node {
        std::string frame;
        std::uint64_t weight = 0;
        std::vector<Node> callees;
    };
    struct Look {
        std::string_view unit;
        Screen screen;
    };
    static void append_nodes(std::string& out, const std::vector<Node>& nodes, std::size_t depth,
                             const Look& look);

    Node root_;
};

}  // namespace gpufs
