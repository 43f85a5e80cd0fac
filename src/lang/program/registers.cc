#include "lang/program/registers.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "base/scan.h"

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
    if (name == "pc") return place_of("ip");
#if defined __x86_64__
    if (name.starts_with('r')) return place_of(name.substr(1));
#elif defined __aarch64__
    if (name == "x30" || name == "r30") return place_of("lr");
    if (name.starts_with('r'))
        for (const std::string_view one : kRegisters)
            if (one.starts_with('x') && one.substr(1) == name.substr(1)) return place_of(one);
#endif
    return std::nullopt;
}

std::optional<std::size_t> register_of_operand(std::string name) {
    if (name.starts_with('%')) name.erase(0, 1);
    if (name.empty()) return std::nullopt;
#if defined __x86_64__
    if (name[0] == 'r' && name.size() > 1 && is_digit(name[1])) {
        while (!is_digit(name.back())) name.pop_back();  // r8d, r8w, r8b
        return register_offset(name);
    }
    if (name.size() == 3 && (name[0] == 'e' || name[0] == 'r')) name.erase(0, 1);
    if (name.size() == 3 && name[2] == 'l') name.pop_back();  // sil, dil, bpl, spl
    if (name.size() == 2 && name[1] == 'l') name[1] = 'x';    // al
#elif defined __aarch64__
    if (name[0] == 'w') name[0] = 'x';
#endif
    return register_offset(name);
}

std::vector<std::string> tracefs_registers() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::size(kRegisters); ++i)
        if (auto name = tracefs_register(i * kRegisterBytes)) names.push_back(std::move(*name));
    return names;
}

bool is_tracefs_register(std::string_view name) {
    if (kRegisters[0].empty()) return true;
#if defined __aarch64__
    if (name == "x30") return true;  // of lr
#endif
    const auto place = place_of(name == "pc" ? "ip" : name);
    return place && (tracefs_register(*place) == name);
}

std::optional<std::string> tracefs_register(std::size_t offset) {
    const std::size_t index = offset / kRegisterBytes;
    if (index >= std::size(kRegisters) || kRegisters[index].empty()) return std::nullopt;
#if defined __aarch64__
    if (kRegisters[index] == "ip") return "pc";
#endif
    return std::string(kRegisters[index]);
}

std::optional<std::string> register_of_dwarf(unsigned number) {
#if defined __x86_64__
    static constexpr std::string_view kNumbered[] = {"ax",  "dx",  "cx",  "bx",  "si",  "di",
                                                     "bp",  "sp",  "r8",  "r9",  "r10", "r11",
                                                     "r12", "r13", "r14", "r15", "ip"};
#elif defined __aarch64__
    // x0 to x30, sp: in the order of struct pt_regs.
    static constexpr std::span kNumbered = std::span(kRegisters).first(32);
#else
    static constexpr std::string_view kNumbered[] = {""};
#endif
    if (number >= std::size(kNumbered) || kNumbered[number].empty()) return std::nullopt;
    return std::string(kNumbered[number]);
}

ThreadPointer thread_pointer_register() {
#if defined __aarch64__
    return {"tpidr_el0", "task_struct.thread.uw.tp_value"};
#else
    return {"fs", "task_struct.thread.fsbase"};
#endif
}

}  // namespace gpufs
