#pragma once

#include <bitset>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/ir/ir.h"

// Glob patterns of the filter language as code. Private to lang/expr and tests.
namespace gpufs {

// A parsed pattern: runs of characters between stars; each character is the set of bytes that it
// matches. Has the semantics of the kernel's glob_match() and of filter_glob().
struct GlobPattern {
    using Char = std::bitset<256>;  // never contains NUL
    using Run = std::vector<Char>;

    std::vector<Run> runs;  // at least one; only the first and the last may be empty

    bool has_star() const { return runs.size() > 1; }
    // How many bytes of the text decide whether it matches; 0 if that depends on the text.
    std::size_t bytes_needed() const;
    // The prefix, if the pattern is only a prefix and a star: "kworker*".
    std::optional<std::string> literal_prefix() const;
};
GlobPattern parse_glob(std::string_view pattern);

// Appends code that compares a text with a pattern. `load` returns the byte at an index below
// `bytes`; the text ends at its first NUL or at `bytes`. All indexes are constants, and each place
// in the code corresponds to one state of the match: the verifier sees a graph without loops or
// variable offsets.
void append_glob(ir::Code& code, const GlobPattern& pattern, std::size_t bytes,
                 const std::function<ir::Temp(std::size_t)>& load, ir::Label yes, ir::Label no);

}  // namespace gpufs
