#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "view/columns.h"

namespace gpufs {

// Stacks that share their outer frames, as a tree:
//
//       123  entry_SYSCALL_64
//            do_syscall_64
//        80    vfs_read
//        43    vfs_write
//
// A number stands where it changes, the most in front; frames go to the right only where stacks
// part.
class StackTree {
public:
    // `frames`: the outermost first.
    void add(const std::vector<std::string>& frames, std::uint64_t weight);
    // `unit`: what weights count.
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
