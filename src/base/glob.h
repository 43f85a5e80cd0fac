#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace gpufs {

// Patterns of whole names: '*', '?', "[a-z]", "[!a-z]", and '\' in front of what stands for itself.
// So does a '[' that is not closed.
enum class GlobRules {
    // fnmatch(3) without flags, of bytes: a set may begin with '^', too, and have a '\' in it.
    shell,
    // The kernel's glob_match(), which filters have: a '\' at the end is no character.
    kernel,
};
bool glob_match(std::string_view pattern, std::string_view name,
                GlobRules rules = GlobRules::shell);

// Has it a character that glob_match() takes for more than itself?
bool is_glob(std::string_view pattern);

// Parses the rest of [a-z] or [!a-z] after the [, at `at`; a ] that comes first is a member. Calls
// take(low, high) for each range of bytes. Absent when the closing ] is missing.
struct GlobSet {
    std::size_t end;  // after the ]
    bool is_inverted;
};
template <class Take>
std::optional<GlobSet> parse_glob_set(std::string_view pattern, std::size_t at, GlobRules rules,
                                      Take&& take) {
    const bool is_shell = rules == GlobRules::shell;
    const bool is_inverted =
        at < pattern.size() && (pattern[at] == '!' || (is_shell && pattern[at] == '^'));
    if (is_inverted) ++at;
    const auto next = [&]() -> std::optional<unsigned> {
        if (is_shell && at < pattern.size() && pattern[at] == '\\') ++at;
        if (at >= pattern.size()) return std::nullopt;
        return static_cast<unsigned char>(pattern[at++]);
    };
    do {
        const auto low = next();
        auto high = low;
        if (low && at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']') {
            ++at;
            high = next();
        }
        if (!high || at >= pattern.size()) return std::nullopt;
        take(*low, *high);
    } while (pattern[at] != ']');
    return GlobSet{at + 1, is_inverted};
}

}  // namespace gpufs
