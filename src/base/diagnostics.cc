#include "base/diagnostics.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"

namespace gpufs {
namespace {

constexpr std::size_t kMostShown = 20;

}  // namespace

void Diagnostics::add(const SourceText& source, Span at, std::string text) {
    const auto known = std::ranges::find(names_, source.name);
    const auto index = static_cast<std::size_t>(known - names_.begin());
    if (known == names_.end()) names_.push_back(source.name);
    entries_.push_back({index, at, std::move(text)});
}

void Diagnostics::error(const SourceText& source, Span at, std::string_view message,
                        const std::string& hint) {
    add(source, at, cat(point_at(source, at, message), hint.empty() ? "" : "\nhint: ", hint));
}

void Diagnostics::error(const SourceText& source, const SourceError& mistake) {
    const std::string& hint = mistake.hint();
    add(source, mistake.at(), cat(mistake.what(), hint.empty() ? "" : "\nhint: ", hint));
}

void Diagnostics::add(const Diagnostics& others) {
    std::set<std::pair<std::size_t, std::string>> told;
    for (const Entry& entry : entries_) told.emplace(entry.source, entry.text);
    for (const Entry& entry : others.entries_) {
        const std::string& name = others.names_[entry.source];
        const auto known = std::ranges::find(names_, name);
        const auto index = static_cast<std::size_t>(known - names_.begin());
        if (!told.emplace(index, entry.text).second) continue;
        if (known == names_.end()) names_.push_back(name);
        entries_.push_back({index, entry.at, entry.text});
    }
}

std::string Diagnostics::to_text() const {
    std::vector<const Entry*> order;
    for (const Entry& entry : entries_) order.push_back(&entry);
    std::ranges::stable_sort(order, [](const Entry* a, const Entry* b) {
        return a->source != b->source ? a->source < b->source : a->at.begin < b->at.begin;
    });
    std::string text;
    const std::size_t shown = std::min(order.size(), kMostShown);
    for (std::size_t i = 0; i < shown; ++i) text += cat(i == 0 ? "" : "\n", order[i]->text);
    if (shown < order.size())
        text += cat("\nand ", counted(order.size() - shown, "more mistake"),
                    is_full() ? "; the rest was not looked at" : "");
    return text;
}

void Diagnostics::throw_if_any() const {
    if (!empty()) throw UsageError(to_text());
}

}  // namespace gpufs
