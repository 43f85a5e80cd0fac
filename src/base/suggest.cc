#include "base/suggest.h"

#include <algorithm>
#include <numeric>

#include "base/cat.h"

namespace gpufs {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> two_back(b.size() + 1), back(b.size() + 1), row(b.size() + 1);
    std::iota(back.begin(), back.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = std::min({back[j] + 1, row[j - 1] + 1, back[j - 1] + cost});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], two_back[j - 2] + 1);
        }
        std::swap(two_back, back);
        std::swap(back, row);
    }
    return back[b.size()];
}

namespace {

// With another first letter, a word of three letters is another word: 'uid' is not a typo of 'pid'.
bool is_rhyme(std::string_view a, std::string_view b) {
    constexpr std::size_t kShort = 3;
    return a.size() == kShort && b.size() == kShort && a[0] != b[0] && a.substr(1) == b.substr(1);
}

}  // namespace

std::string closest(std::string_view word, std::span<const std::string> candidates) {
    const std::string* best = nullptr;
    // At most a third of the letters may differ: 'prio' is not a typo of 'pid'.
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string& candidate : candidates) {
        if (is_rhyme(word, candidate)) continue;
        const std::size_t longer = std::max(word.size(), candidate.size());
        const std::size_t shorter = std::min(word.size(), candidate.size());
        if (longer - shorter >= best_distance) continue;
        const std::size_t distance = edit_distance(word, candidate);
        if (distance < best_distance) {
            best = &candidate;
            best_distance = distance;
        }
    }
    return best ? *best : std::string();
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
    const std::string best = closest(word, candidates);
    return best.empty() ? best : cat("did you mean '", best, "'?");
}

}  // namespace gpufs
