#include "lang/symbols/entry_functions.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace gpufs {
namespace {

template <std::size_t N>
bool begins_with_one_of(std::string_view function, const std::array<std::string_view, N>& names) {
    return std::ranges::any_of(names,
                               [&](std::string_view name) { return function.starts_with(name); });
}

// On arm64 the outermost function is that of all exceptions, and those within tell which it was.
bool is_arm_interrupt(std::span<const std::string> functions) {
    constexpr std::array<std::string_view, 6> kNames = {
        "el0_irq", "el0t_64_irq", "el0t_32_irq", "el0_interrupt", "el0_da", "el0_ia"};
    constexpr std::size_t kEntry = 4;
    const auto entry = functions.last(std::min(kEntry, functions.size()));
    return std::ranges::any_of(
        entry, [&](const std::string& function) { return begins_with_one_of(function, kNames); });
}

}  // namespace

bool is_entered_by_interrupt(std::span<const std::string> functions) {
    constexpr std::array<std::string_view, 4> kNames = {"asm_sysvec_", "asm_exc_",
                                                        "asm_common_interrupt", "irqentry_"};
    if (functions.empty()) return false;
    return begins_with_one_of(functions.back(), kNames) || is_arm_interrupt(functions);
}

}  // namespace gpufs
