#include "lang/program/registers.h"

#include <algorithm>
#include <iterator>

namespace gpufs {
namespace {

constexpr std::size_t kRegisterBytes = 8;

// In the order of struct pt_regs.
#if defined __x86_64__
constexpr std::string_view kRegisters[] = {"r15", "r14",     "r13", "r12", "bp",    "bx", "r11",
                                           "r10", "r9",      "r8",  "ax",  "cx",    "dx", "si",
                                           "di",  "orig_ax", "ip",  "cs",  "flags", "sp", "ss"};
#elif defined __aarch64__
constexpr std::string_view kRegisters[] = {
    "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",    "x10", "x11",
    "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",   "x22", "x23",
    "x24", "x25", "x26", "x27", "x28", "x29", "lr",  "sp",  "ip",  "pstate"};
#else
constexpr std::string_view kRegisters[] = {""};
#endif

std::optional<std::size_t> place_of(std::string_view name) {
    const auto found = std::ranges::find(kRegisters, name);
    if (name.empty() || found == std::end(kRegisters)) return std::nullopt;
    return static_cast<std::size_t>(found - std::begin(kRegisters)) * kRegisterBytes;
}

}  // namespace

std::optional<std::size_t> register_offset(std::string_view name) {
    if (const auto place = place_of(name)) return place;
#if defined __x86_64__
    if (name.starts_with('r')) return place_of(name.substr(1));
#elif defined __aarch64__
    if (name == "pc") return place_of("ip");
    if (name == "x30" || name == "r30") return place_of("lr");
    if (name.starts_with('r'))
        for (const std::string_view one : kRegisters)
            if (one.starts_with('x') && one.substr(1) == name.substr(1)) return place_of(one);
#endif
    return std::nullopt;
}

}  // namespace gpufs
