#include "view/monitor/stack_tree.h"

#include <algorithm>

#include "base/sorted.h"
#include "view/monitor/value_text.h"

namespace gpufs {
namespace {

constexpr int kWeightWidth = 10;

}  // namespace

void StackTree::add(const std::vector<std::string>& frames, std::uint64_t weight) {
    Node* at = &root_;
    at->weight += weight;
    for (const std::string& frame : frames) {
        auto callee = std::ranges::find(at->callees, frame, &Node::frame);
        if (callee == at->callees.end()) callee = at->callees.insert(callee, {frame, 0, {}});
        at = &*callee;
        at->weight += weight;
    }
}

void StackTree::append_nodes(std::string& out, const std::vector<Node>& nodes, std::size_t depth,
                             const Look& look) {
    std::vector<const Node*> sorted;
    sorted.reserve(nodes.size());
    for (const Node& node : nodes) sorted.push_back(&node);
    sort_stably(sorted, [](const Node* a, const Node* b) { return a->weight > b->weight; });
    for (const Node* node : sorted) {
        for (bool is_first = true;; is_first = false, node = node->callees.data()) {
            const std::size_t start = out.size();
            append_padded(out, is_first ? quantity_text(node->weight, false, look.unit) : "",
                          kWeightWidth);
            out.append(2 + 2 * depth, ' ');
            out += node->frame;
            cut_from(out, start, look.screen);
            out += '\n';
            const bool goes_on =
                node->callees.size() == 1 && node->callees[0].weight == node->weight;
            if (!goes_on) break;
        }
        append_nodes(out, node->callees, depth + 1, look);
    }
}

std::string StackTree::to_text(std::string_view unit, const Screen& screen) const {
    std::string text;
    append_nodes(text, root_.callees, 0, {unit, screen});
    return text;
}

}  // namespace gpufs
