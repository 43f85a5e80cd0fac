#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace gpufs {

// The function that contains an address. The texts belong to whoever returned the symbol.
struct Symbol {
    std::string_view name;
    std::string_view module;   // empty for the kernel itself
    std::uint64_t offset = 0;  // of the address from the function's start
    std::uint64_t size = 0;

    // Functions that return into a probe return to its begin, which hides who called them.
    bool is_return_trampoline() const {
        return offset == 0 &&
               (name == "arch_rethook_trampoline" || name == "__kretprobe_trampoline");
    }
};

// Whether a frame of a stack is the innermost one, or has called another: its address is where the
// call returns to, which is behind the function if that call never returns.
enum class FramePlace { innermost, outer };
// That of the i-th frame, the innermost first.
constexpr FramePlace frame_place(std::size_t i) {
    return i == 0 ? FramePlace::innermost : FramePlace::outer;
}

// The function of a frame of a stack, where find(address) tells the one that contains an address.
template <class Find>
std::optional<Symbol> symbol_of_frame(std::uint64_t address, FramePlace place, Find&& find) {
    std::optional<Symbol> found = find(address);
    const bool is_inside = found && (found->offset != 0 || found->is_return_trampoline());
    if (place == FramePlace::innermost || is_inside) return found;
    std::optional<Symbol> before = find(address - 1);
    if (before) ++before->offset;
    return before ? before : find(address);
}

// Names for the addresses in records. Called only for records that print an address. An empty
// function has no names; the address itself is then printed.
struct AddressNames {
    // The function at a kernel address.
    std::function<std::optional<Symbol>(std::uint64_t)> symbol;
    // The constant string at a kernel address (printk_formats).
    std::function<std::optional<std::string_view>(std::uint64_t)> text;
    // The function at an address of a process, when the record at hand was made.
    std::function<std::optional<Symbol>(int process, std::uint64_t address)> user;

    // The function of a frame of a stack.
    std::optional<Symbol> frame(std::uint64_t address, FramePlace place) const {
        if (!symbol) return std::nullopt;
        return symbol_of_frame(address, place, symbol);
    }

    // Those of a process's own addresses.
    AddressNames of_process(int process) const {
        AddressNames names;
        if (user)
            names.symbol = [this, process](std::uint64_t address) {
                return user(process, address);
            };
        return names;
    }
};

}  // namespace gpufs
