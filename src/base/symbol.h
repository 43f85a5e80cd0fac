#pragma once

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
};

// Names for the addresses in records. Called only for records that print an address. An empty
// function has no names; the address itself is then printed.
struct AddressNames {
    // The function at a kernel address.
    std::function<std::optional<Symbol>(std::uint64_t)> symbol;
    // The constant string at a kernel address (printk_formats).
    std::function<std::optional<std::string_view>(std::uint64_t)> text;
    // The function at an address of a process, when the record at hand was made.
    std::function<std::optional<Symbol>(int process, std::uint64_t address)> user;

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
