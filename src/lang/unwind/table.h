#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "lang/unwind/eh_frame.h"
#include "lang/unwind/rule.h"

namespace gpufs {

// The rules of all files, each once.
class UnwindRules {
public:
    // The rule's number. Absent where there are too many rules.
    std::optional<std::uint32_t> number_of(const UnwindRule& rule);
    const std::vector<UnwindRule>& all() const noexcept { return rules_; }

private:
    struct Hash {
        std::size_t operator()(const UnwindRule& rule) const noexcept;
    };
    std::vector<UnwindRule> rules_;
    std::unordered_map<UnwindRule, std::uint32_t, Hash> numbers_;
    std::uint32_t recent_ = 0;
};

// The rows of a file, by page of code as linked.
struct UnwindTable {
    std::uint64_t first_page = 0;  // an address >> kUnwindPageBits
    // By page: its rows are those from rows_of[page] to before rows_of[page + 1].
    std::vector<std::uint32_t> rows_of;
    std::vector<std::uint32_t> rows;
    // Rows whose rule or page found no room: there the frame pointer is taken.
    std::uint64_t refused = 0;

    std::size_t pages() const { return rows_of.empty() ? 0 : rows_of.size() - 1; }
};

UnwindTable make_unwind_table(EhFrame& frames, UnwindRules& rules);

}  // namespace gpufs
