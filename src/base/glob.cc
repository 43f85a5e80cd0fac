#include "base/glob.h"

namespace gpufs {
namespace {

// Whether what stands at `at` matches a character; `at` goes on behind it.
bool takes(std::string_view pattern, std::size_t& at, char c, GlobRules rules) {
    const char is = pattern[at++];
    if (is == '?') return true;
    if (is == '\\') return at < pattern.size() && pattern[at++] == c;
    if (is != '[') return is == c;
    const unsigned byte = static_cast<unsigned char>(c);
    bool has = false;
    const auto set = parse_glob_set(pattern, at, rules, [&](unsigned low, unsigned high) {
        has = has || (low <= byte && byte <= high);
    });
    if (!set) return is == c;
    at = set->end;
    return has != set->is_inverted;
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view name, GlobRules rules) {
    std::size_t at = 0, i = 0;
    // On a mismatch only the last star needs a retry, one character further on: where the pattern
    // goes on behind it, and how far the name is taken by it.
    std::optional<std::size_t> behind_star;
    std::size_t taken = 0;
    while (i < name.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            behind_star = ++at;
            taken = i;
            continue;
        }
        std::size_t next = at;
        if (at < pattern.size() && takes(pattern, next, name[i], rules)) {
            at = next;
            ++i;
            continue;
        }
        if (!behind_star) return false;
        at = *behind_star;
        i = ++taken;
    }
    while (at < pattern.size() && pattern[at] == '*') ++at;
    const std::string_view rest = pattern.substr(at);
    return rest.empty() || (rules == GlobRules::kernel && rest == "\\");
}

bool is_glob(std::string_view pattern) {
    return pattern.find_first_of("*?[") != pattern.npos;
}

}  // namespace gpufs
