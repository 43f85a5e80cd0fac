#include "base/diagnostics.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/sorted.h"
#include "base/text.h"

namespace gpufs {
namespace {

constexpr std::size_t kMostShown = 20;

std::string with_hint(const PlacedMessage& message) {
    return cat(pointed_at(message), message.hint.empty() ? "" : "\nhint: ", message.hint);
}

}  // namespace

void Diagnostics::add(const SourceText& source, Span at, PlacedMessage message) {
    const auto known = std::ranges::find(names_, source.name);
    const auto index = static_cast<std::size_t>(known - names_.begin());
    if (known == names_.end()) names_.push_back(source.name);
    // What stands once in a text may be several instructions.
    const auto is_told = [&](const Entry& entry) {
        return entry.source == index && entry.at.begin == at.begin &&
               entry.message.message == message.message && entry.message.hint == message.hint;
    };
    if (std::ranges::any_of(entries_, is_told)) return;
    entries_.push_back({index, at, std::move(message)});
}

void Diagnostics::error(const SourceText& source, Span at, std::string_view message,
                        std::string_view hint) {
    add(source, at, place_message(source, at, message, hint));
}

void Diagnostics::error(const SourceText& source, const SourceError& mistake) {
    add(source, mistake.at(), mistake.messages().front());
}

void Diagnostics::add(const Diagnostics& others) {
    std::set<std::pair<std::size_t, std::string>> told;
    for (const Entry& entry : entries_) told.emplace(entry.source, with_hint(entry.message));
    for (const Entry& entry : others.entries_) {
        const std::string& name = others.names_[entry.source];
        const auto known = std::ranges::find(names_, name);
        const auto index = static_cast<std::size_t>(known - names_.begin());
        if (!told.emplace(index, with_hint(entry.message)).second) continue;
        if (known == names_.end()) names_.push_back(name);
        entries_.push_back({index, entry.at, entry.message});
    }
}

std::vector<PlacedMessage> Diagnostics::shown() const {
    std::vector<const Entry*> order;
    for (const Entry& entry : entries_) order.push_back(&entry);
    sort_stably(order, [](const Entry* a, const Entry* b) {
        return a->source != b->source ? a->source < b->source : a->at.begin < b->at.begin;
    });
    std::vector<PlacedMessage> messages;
    for (std::size_t i = 0; i < std::min(order.size(), kMostShown); ++i)
        messages.push_back(order[i]->message);
    return messages;
}

std::string Diagnostics::rest() const {
    if (entries_.size() <= kMostShown) return {};
    return cat("and ", counted(entries_.size() - kMostShown, "more mistake"),
               is_full() ? "; the rest was not looked at" : "");
}

std::string Diagnostics::to_text() const {
    std::string text;
    for (const PlacedMessage& message : shown())
        text += cat(text.empty() ? "" : "\n", with_hint(message));
    const std::string more = rest();
    return more.empty() ? text : cat(text, '\n', more);
}

void Diagnostics::throw_if_any() const {
    if (!empty()) throw Mistakes(to_text(), shown(), rest());
}

}  // namespace gpufs
