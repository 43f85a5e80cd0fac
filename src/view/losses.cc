#include "view/losses.h"

#include <algorithm>

#include "base/cat.h"

namespace gpufs {

std::string counted_of(std::uint64_t n, std::string_view plural) {
    std::string words = cat(n, ' ', plural);
    if (n != 1) return words;
    const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
    for (auto begin = words.begin(); begin != words.end();) {
        const auto end = std::find_if_not(begin, words.end(), is_letter);
        const std::string_view word(begin, end);
        const bool is_plural = word.size() > 3 && word.ends_with('s') && !word.ends_with("ss") &&
                               !word.ends_with("us") && !word.ends_with("is");
        if (is_plural) {
            words.erase(end - 1);
            break;
        }
        begin = end == words.end() ? end : end + 1;
    }
    return words;
}

std::string loss_text(const Loss& loss) {
    if (loss.is_exact()) return cat(loss.least);
    if (loss.most == Loss::kUnbounded) return cat(loss.least, " or more");
    if (loss.least == 0) return cat("up to ", loss.most);
    return cat(loss.least, " to ", loss.most);
}

std::string losses_text(const LossLedger& losses) {
    std::string text = cat(loss_text(losses.total()), " lost");
    std::string_view before = ": ";
    for (const auto& [what, loss] : losses.kinds()) {
        if (loss.is_zero()) continue;
        text += before;
        text += loss.is_exact() ? counted_of(loss.least, what) : cat(loss_text(loss), ' ', what);
        before = "; ";
    }
    return text;
}

std::string end_text(const LossLedger& losses, std::span<const Tally> tallies) {
    std::string text = losses_text(losses);
    for (const Tally& tally : tallies)
        if (tally.count != 0) text += cat("; ", counted_of(tally.count, tally.what));
    return text;
}

JsonObject& add_loss(JsonObject& to, std::string_view key, const Loss& loss) {
    to.number(key, loss.least);
    if (loss.is_exact()) return to;
    const std::string most = cat(key, "_most");
    return loss.most == Loss::kUnbounded ? to.raw(most, "null") : to.number(most, loss.most);
}

std::string losses_json(const LossLedger& losses) {
    JsonArray kinds;
    for (const auto& [what, loss] : losses.kinds()) {
        JsonObject kind;
        kind.text("what", what);
        kinds.add(add_loss(kind, "count", loss).done());
    }
    return kinds.done();
}

}  // namespace gpufs
