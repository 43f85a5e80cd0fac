#include "view/monitor/stack_tree.h"

#include <algorithm>

#include "base/cat.h"
#include "base/sorted.h"
#include "view/monitor/value_text.h"

namespace gpufs {
namespace {

constexpr int kWeightWidth = 10;

}  // namespace

std::vector<std::size_t> share_out(std::span<const StackGroup> groups, std::size_t room) {
    double weight = 0;
    std::size_t stacks = 0;
    for (const StackGroup& group : groups) {
        weight += static_cast<double>(group.weight);
        stacks += group.stacks;
    }
    room = std::min(room, stacks);
    const double room_a_weight = static_cast<double>(room) / std::max(weight, 1.0);
    std::vector<std::size_t> shares;
    std::size_t left = room;
    for (const StackGroup& group : groups) {
        const auto due =
            static_cast<std::size_t>(static_cast<double>(group.weight) * room_a_weight);
        shares.push_back(std::min({std::max<std::size_t>(due, 1), group.stacks, left}));
        left -= shares.back();
    }
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const std::size_t more = std::min(groups[i].stacks - shares[i], left);
        shares[i] += more;
        left -= more;
    }
    return shares;
}

void StackTree::add(const std::vector<std::string>& frames, std::uint64_t weight) {
    Node* at = &root_;
    const StackGroup one{weight, 1};
    at->all += one;
    for (const std::string& frame : frames) {
        auto callee = std::ranges::find(at->callees, frame, &Node::frame);
        if (callee == at->callees.end()) callee = at->callees.insert(callee, {frame, {}, {}});
        at = &*callee;
        at->all += one;
    }
}

void StackTree::append_nodes(std::string& out, const std::vector<Node>& nodes, std::size_t depth,
                             std::size_t room, const Look& look) {
    const auto begin_line = [&](const std::uint64_t* weight) {
        append_padded(out, weight ? quantity_text(*weight, false, look.unit) : "", kWeightWidth);
        out.append(2 + 2 * depth, ' ');
    };
    std::vector<const Node*> sorted;
    sorted.reserve(nodes.size());
    for (const Node& node : nodes) sorted.push_back(&node);
    sort_stably(sorted, [](const Node* a, const Node* b) { return a->all.weight > b->all.weight; });
    std::vector<StackGroup> groups;
    for (const Node* node : sorted) groups.push_back(node->all);
    const std::vector<std::size_t> shares = share_out(groups, room);
    StackGroup left_out;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const Node* node = sorted[i];
        if (shares[i] == 0) {
            left_out += node->all;
            continue;
        }
        for (bool is_first = true;; is_first = false, node = node->callees.data()) {
            const std::size_t start = out.size();
            begin_line(is_first ? &node->all.weight : nullptr);
            out += node->frame;
            cut_from(out, start, look.screen);
            out += '\n';
            const bool goes_on =
                node->callees.size() == 1 && node->callees[0].all.weight == node->all.weight;
            if (!goes_on) break;
        }
        append_nodes(out, node->callees, depth + 1, shares[i], look);
    }
    if (left_out.stacks == 0) return;
    begin_line(&left_out.weight);
    out += cat("and ", left_out.stacks, " more\n");
}

std::string StackTree::to_text(std::string_view unit, const Screen& screen,
                               std::size_t most) const {
    std::string text;
    append_nodes(text, root_.callees, 0, most, {unit, screen});
    return text;
}

}  // namespace gpufs
