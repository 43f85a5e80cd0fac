#include "view/stall/summary.h"

#include <algorithm>

#include "base/cat.h"
#include "base/sorted.h"
#include "base/text.h"
#include "view/duration.h"
#include "view/json.h"
#include "view/table.h"

namespace gpufs {
namespace {

constexpr std::size_t kMostRows = 20, kMostHistograms = 5;

std::string text_of(const std::vector<std::string>& functions) {
    return functions.empty() ? "-" : join(functions, " < ");
}

}  // namespace

void StallSummary::Group::add(std::uint64_t ns) {
    shortest_ns = count == 0 ? ns : std::min(shortest_ns, ns);
    ++count;
    total_ns += ns;
    longest_ns = std::max(longest_ns, ns);
    us.add(ns / 1000);
}

void StallSummary::add(const Stall& stall, const std::vector<std::string>& stack,
                       const std::string& syscall) {
    const std::uint64_t ns = stall.duration_ns();
    const char state = static_cast<char>(stall.state);
    all_.add(ns);
    by_stack_[{state, stack}].add(ns);
    Group& of_call = by_syscall_[{state, {syscall}}];
    of_call.syscall = stall.syscall.known;
    of_call.add(ns);
}

std::vector<StallSummary::Groups::const_iterator> StallSummary::by_time(const Groups& groups) {
    std::vector<Groups::const_iterator> rows;
    for (auto it = groups.begin(); it != groups.end(); ++it) rows.push_back(it);
    sort_stably(
        rows, [](const auto& a, const auto& b) { return a->second.total_ns > b->second.total_ns; });
    return rows;
}

std::string StallSummary::table(const Groups& groups, const std::string& title, Controls controls) {
    using enum Table::Align;
    Table table({{"COUNT"}, {"TOTAL"}, {"LONGEST"}, {"STATE", left}, {title, left}});
    const auto rows = by_time(groups);
    for (std::size_t i = 0; i < std::min(kMostRows, rows.size()); ++i) {
        const auto& [place, group] = *rows[i];
        table.add({cat(group.count), duration_text(group.total_ns), duration_text(group.longest_ns),
                   std::string(1, place.first), printable(text_of(place.second), controls)});
    }
    std::string text = table.to_text();
    if (rows.size() > kMostRows) text += cat("and ", rows.size() - kMostRows, " more\n");
    return text;
}

std::string StallSummary::to_text(Controls controls) const {
    if (all_.count == 0) return {};
    std::string text = table(by_stack_, "KERNEL STACK", controls);
    text += "\n";
    text += table(by_syscall_, "SYSTEM CALL", controls);
    const auto rows = by_time(by_syscall_);
    for (std::size_t i = 0; i < std::min(kMostHistograms, rows.size()); ++i) {
        const auto& [place, group] = *rows[i];
        text += cat("\n", place.second.front(), ", ", place.first, ":\n", group.us.to_text("us"));
    }
    return text;
}

// As report_json() has them.
std::string StallSummary::json(const Groups& groups, std::string_view name,
                               std::string_view title) {
    JsonArray entries;
    for (const auto& it : by_time(groups)) {
        const auto& [place, group] = *it;
        JsonObject key, entry;
        key.text("state", std::string(1, place.first));
        if (name == "stack")
            key.raw(name, json_texts_or_null(place.second));
        else if (group.syscall == SyscallState::Known::yes)
            key.text(name, place.second.front());
        else if (group.syscall == SyscallState::Known::none)
            key.null(name);
        entries.add(entry.raw("key", key.done())
                        .number("count", group.count)
                        .number("sum", group.total_ns)
                        .number("avg", group.total_ns / group.count)
                        .number("min", group.shortest_ns)
                        .number("max", group.longest_ns)
                        .raw("histogram", group.us.to_json(1000))
                        .done());
    }
    return JsonObject()
        .text("map", cat("by_", name))
        .text("title", title)
        .text("unit", "ns")
        .raw("entries", entries.done())
        .done();
}

std::string StallSummary::to_json() const {
    return cat(json(by_stack_, "stack", "By kernel stack"), '\n',
               json(by_syscall_, "syscall", "By system call"), '\n');
}

void StallSummary::add_to(JsonObject& object) const {
    object.number("stalls", all_.count)
        .number("total_ns", all_.total_ns)
        .number("longest_ns", all_.longest_ns);
}

}  // namespace gpufs
