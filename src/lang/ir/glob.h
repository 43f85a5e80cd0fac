#pragma once

#include <bitset>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/ir/ir.h"

// Patterns of the filter language as code. Private to expr_bpf.cc, expr_eval.cc and their tests.
namespace gpufs {

// What stands behind the [ of [a-z], [!a-z], at `at`; a ] that comes first is a member. Calls
// take(low, high) for each stretch of bytes. Absent when the closing ] is missing.
struct GlobClass {
    std::size_t end;  // behind the ]
    bool is_inverted;
};
template <class Take>
std::optional<GlobClass> parse_glob_class(std::string_view pattern, std::size_t at, Take&& take) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(pattern[i]); };
    const bool is_inverted = at < pattern.size() && pattern[at] == '!';
    if (is_inverted) ++at;
    do {
        if (at >= pattern.size()) return std::nullopt;
        const unsigned low = byte(at++);
        unsigned high = low;
        if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']') {
            high = byte(at + 1);
            at += 2;
        }
        take(low, high);
        if (at >= pattern.size()) return std::nullopt;
    } while (pattern[at] != ']');
    return GlobClass{at + 1, is_inverted};
}

// A pattern taken apart: runs of characters between stars, each character as the set of bytes that
// it matches. What glob_match() of the kernel and filter_glob() make of a pattern, this makes too.
struct GlobPattern {
    using Char = std::bitset<256>;  // never with NUL
    using Run = std::vector<Char>;

    std::vector<Run> runs;  // one or more; only the first and the last may be empty

    bool has_star() const { return runs.size() > 1; }
    // How many bytes of a text tell whether it matches; 0 when that depends on the text.
    std::size_t bytes_needed() const;
    // The text that every match begins with, if that is all there is to the pattern: "kworker*".
    std::optional<std::string> literal_prefix() const;
};
GlobPattern parse_glob(std::string_view pattern);

// Appends the comparison of a text with a pattern. `load` gives the byte at an index below `bytes`;
// the text ends at its first NUL, or there. Every index is a constant, and so is how far the match
// has come at each place in the code: the verifier sees a graph without loops or variable offsets.
void append_glob(ir::Code& code, const GlobPattern& pattern, std::size_t bytes,
                 const std::function<ir::Temp(std::size_t)>& load, ir::Label yes, ir::Label no);

}  // namespace gpufs
