#include "base/suggest.h"

#include <algorithm>
#include <array>
#include <cstdint>
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

// How often each letter stands in a word.
class Letters {
public:
    explicit Letters(std::string_view word) : size_(word.size()) {
        for (const char c : word) ++counts_[kind(c)];
    }
    // At least this much is the edit distance to `other`: each letter that only one of the two has
    // takes an edit, and one edit mends at most one such letter on each side.
    std::size_t least_distance(std::string_view other) const {
        auto left = counts_;
        std::size_t shared = 0;
        for (const char c : other)
            if (std::uint32_t& count = left[kind(c)]; count != 0) {
                --count;
                ++shared;
            }
        return std::max(size_, other.size()) - shared;
    }

private:
    // Letters of one kind count as equal, which only makes the least distance smaller.
    static constexpr std::size_t kKinds = 128;
    static std::size_t kind(char c) { return static_cast<unsigned char>(c) % kKinds; }

    std::size_t size_;
    std::array<std::uint32_t, kKinds> counts_{};
};

// The only candidate that begins with the word: 'duration' of 'dur'; or with words in front of it:
// 'sched_process_fork' of 'process_fork'.
const std::string* completion(std::string_view word, std::span<const std::string> candidates) {
    constexpr std::size_t kShortest = 3;
    const std::string* found = nullptr;
    if (word.size() < kShortest) return nullptr;
    const std::string behind = cat('_', word);
    for (const std::string& candidate : candidates) {
        const bool is_whole_name = candidate.find(':') == candidate.npos;
        if (!candidate.starts_with(word) && !(is_whole_name && candidate.ends_with(behind)))
            continue;
        if (found && *found != candidate) return nullptr;
        found = &candidate;
    }
    return found;
}

}  // namespace

std::string closest(std::string_view word, std::span<const std::string> candidates) {
    const std::string* best = nullptr;
    const Letters letters(word);
    // At most a third of the letters may differ: 'prio' is not a typo of 'pid'.
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string& candidate : candidates) {
        if (is_rhyme(word, candidate)) continue;
        if (letters.least_distance(candidate) >= best_distance) continue;
        const std::size_t distance = edit_distance(word, candidate);
        if (distance < best_distance) {
            best = &candidate;
            best_distance = distance;
        }
    }
    if (!best) best = completion(word, candidates);
    return best ? *best : std::string();
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
    const std::string best = closest(word, candidates);
    return best.empty() ? best : cat("did you mean '", best, "'?");
}

}  // namespace gpufs
