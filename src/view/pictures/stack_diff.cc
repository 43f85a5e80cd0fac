#include "view/pictures/stack_diff.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/cat.h"
#include "base/decimal.h"
#include "base/saturate.h"
#include "base/sorted.h"
#include "view/json.h"
#include "view/pictures/svg.h"
#include "view/table.h"

namespace gpufs {
namespace {

std::uint64_t weight_of(const std::vector<CountedStack>& stacks) {
    std::uint64_t sum = 0;
    for (const CountedStack& stack : stacks) sum = add_saturating(sum, stack.weight);
    return sum;
}

double share_of(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// "+5.00%", "-0.12%"
std::string signed_percent(double share) {
    return cat(share < 0 ? "" : "+", decimal(100 * share, 2), '%');
}

}  // namespace

std::uint64_t StackDiff::before_weight() const {
    return weight_of(before);
}
std::uint64_t StackDiff::now_weight() const {
    return weight_of(now);
}

std::vector<StackDiff::Change> StackDiff::changes() const {
    std::map<std::string, Change> by_frame;
    const auto add = [&](const std::vector<CountedStack>& stacks, std::uint64_t Change::*weight) {
        for (const CountedStack& stack : stacks) {
            if (stack.frames.empty()) continue;
            Change& change = by_frame[stack.frames.back().name];
            change.*weight = add_saturating(change.*weight, stack.weight);
        }
    };
    add(before, &Change::before);
    add(now, &Change::now);
    const std::uint64_t all_before = before_weight(), all_now = now_weight();
    std::vector<Change> changes;
    for (auto& [frame, change] : by_frame) {
        change.frame = frame;
        change.grown = share_of(change.now, all_now) - share_of(change.before, all_before);
        changes.push_back(std::move(change));
    }
    sort_stably(changes, [](const Change& a, const Change& b) {
        // Equal changes go by name, not by how a difference was rounded.
        return std::llround(std::abs(a.grown) * 1e9) > std::llround(std::abs(b.grown) * 1e9);
    });
    return changes;
}

std::vector<FlamePanel> StackDiff::panels(bool reversed) const {
    std::vector<FlamePanel> panels(2);
    panels[0].title = "now (widths of NEW)";
    panels[0].compared = FlamePanel::Compared::now;
    panels[1].title = "before (widths of OLD)";
    panels[1].compared = FlamePanel::Compared::before;
    const auto add = [&](const std::vector<CountedStack>& stacks, std::size_t own) {
        for (CountedStack stack : stacks) {
            if (reversed) std::ranges::reverse(stack.frames);
            panels[own].tree.add(stack.frames, stack.weight, 0);
            panels[1 - own].tree.add(stack.frames, 0, stack.weight);
        }
    };
    add(now, 0);
    add(before, 1);
    return panels;
}

std::string diff_text(const StackDiff& diff, std::size_t top, Controls controls,
                      const Screen& screen) {
    const std::uint64_t before = diff.before_weight(), now = diff.now_weight();
    std::string text = cat("before ", grouped(before), ", now ", grouped(now), '\n');
    std::vector<StackDiff::Change> changes = diff.changes();
    std::erase_if(changes, [](const StackDiff::Change& change) { return change.grown == 0; });
    if (changes.empty()) return text + "no function's share changed\n";
    const std::size_t shown = top == 0 ? changes.size() : std::min(top, changes.size());
    Table table(
        {{"BEFORE"}, {"SHARE"}, {"NOW"}, {"SHARE"}, {"CHANGE"}, {"FRAME", Table::Align::left}});
    for (std::size_t i = 0; i < shown; ++i) {
        const StackDiff::Change& change = changes[i];
        table.add({grouped(change.before), percent_text(change.before, before), grouped(change.now),
                   percent_text(change.now, now), signed_percent(change.grown),
                   printable(change.frame, controls)});
    }
    text += table.to_text(screen);
    if (shown < changes.size()) text += cat("and ", changes.size() - shown, " more\n");
    return text;
}

std::string diff_json(const StackDiff& diff) {
    std::string text;
    for (const StackDiff::Change& change : diff.changes()) {
        JsonObject object;
        object.text("frame", change.frame)
            .number("before", change.before)
            .number("now", change.now)
            .raw("change", decimal(100 * change.grown, 4));
        text += object.done() + '\n';
    }
    return text;
}

}  // namespace gpufs
