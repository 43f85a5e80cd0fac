#include "lang/unwind/eh_frame.h"

#include <algorithm>
#include <optional>

#include "base/sorted.h"
#include "lang/unwind/cfi_machine.h"

namespace gpufs {
namespace {

// In front of an aligned function there is padding, which nothing runs: the rule in front of it may
// go on. Other gaps are functions of assembly language, without rules.
constexpr std::uint64_t kAlignment = 16;

}  // namespace

EhFrame::EhFrame(std::string_view bytes, std::uint64_t address, const UnwindMachine& machine)
    : reader_({bytes, address, true}), machine_(machine) {
    while (const auto function = reader_.next()) functions_.push_back(*function);
    if (!std::ranges::is_sorted(functions_, {}, &FunctionFrames::begin))
        sort_stably(functions_, {}, &FunctionFrames::begin);
}

void EhFrame::for_each(const Visit& visit) {
    CfiMachine machine;
    std::uint64_t known_to = 0;  // the rules of the functions so far
    std::optional<std::size_t> common;
    UnwindRule last;
    const auto tell = [&](std::uint64_t address, const UnwindRule& rule) {
        if (rule == last) return;
        visit(address, rule);
        last = rule;
    };
    for (const FunctionFrames& function : functions_) {
        if (function.end <= known_to) continue;  // the same function again
        const std::uint64_t begin = std::max(function.begin, known_to);
        const bool is_padding = begin % kAlignment == 0 && begin - known_to < kAlignment;
        if (begin != known_to && !is_padding) tell(known_to, {});
        if (function.common != common) {
            common = function.common;
            machine.begin(machine_, reader_.common(*common));
        }
        const bool is_good = machine.run(function.begin, function.end, function.code,
                                         [&](std::uint64_t address, const UnwindRule& rule) {
                                             tell(std::max(address, begin), rule);
                                         });
        if (!is_good) ++unread_;
        known_to = function.end;
    }
    if (known_to != 0) tell(known_to, {});
}

}  // namespace gpufs
