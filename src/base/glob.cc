#include "base/glob.h"

#include <cstddef>
#include <optional>

namespace gpufs {
namespace {

// A set of characters, and where the pattern goes on behind it.
struct Set {
    bool has = false;
    std::size_t end = 0;
};

// The set that begins at `at`, asked for a character. Absent: it is not closed.
std::optional<Set> look_into(std::string_view pattern, std::size_t at, unsigned char c) {
    std::size_t i = at + 1;
    const bool is_negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
    if (is_negated) ++i;
    // One character, which a '\' may stand in front of.
    const auto next = [&]() -> std::optional<unsigned char> {
        if (i < pattern.size() && pattern[i] == '\\') ++i;
        if (i >= pattern.size()) return std::nullopt;
        return static_cast<unsigned char>(pattern[i++]);
    };
    bool has = false;
    for (bool is_first = true;; is_first = false) {
        if (!is_first && i < pattern.size() && pattern[i] == ']') break;
        const auto low = next();
        if (!low) return std::nullopt;
        auto high = low;
        if (i + 1 < pattern.size() && pattern[i] == '-' && pattern[i + 1] != ']') {
            ++i;
            high = next();
            if (!high) return std::nullopt;
        }
        has = has || (*low <= c && c <= *high);
    }
    return Set{has != is_negated, i + 1};
}

// Whether what stands at `at` matches a character; `at` goes on behind it.
bool takes(std::string_view pattern, std::size_t& at, char c) {
    const char is = pattern[at++];
    if (is == '?') return true;
    if (is == '\\') return at < pattern.size() && pattern[at++] == c;
    if (is == '[')
        if (const auto set = look_into(pattern, at - 1, static_cast<unsigned char>(c))) {
            at = set->end;
            return set->has;
        }
    return is == c;
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view name) {
    std::size_t at = 0, i = 0;
    // The last '*': where the pattern goes on behind it, and how far the name is taken by it.
    std::optional<std::size_t> behind_star;
    std::size_t taken = 0;
    while (i < name.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            behind_star = ++at;
            taken = i;
            continue;
        }
        std::size_t next = at;
        if (at < pattern.size() && takes(pattern, next, name[i])) {
            at = next;
            ++i;
            continue;
        }
        if (!behind_star) return false;
        at = *behind_star;
        i = ++taken;
    }
    while (at < pattern.size() && pattern[at] == '*') ++at;
    return at == pattern.size();
}

bool is_glob(std::string_view pattern) {
    return pattern.find_first_of("*?[") != pattern.npos;
}

}  // namespace gpufs
