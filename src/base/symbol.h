#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace gpufs {

// The function an address lies in. The text is borrowed from whoever answered.
struct Symbol {
    std::string_view name;
    std::string_view module;   // empty for the kernel itself
    std::uint64_t offset = 0;  // of the address from the symbol's start
    std::uint64_t size = 0;
};

// What the addresses in records mean. Asked only for records that print an address; an empty
// function knows nothing, and the address is printed.
struct AddressNames {
    // The function at a kernel address.
    std::function<std::optional<Symbol>(std::uint64_t)> symbol;
    // The constant string at a kernel address (printk_formats).
    std::function<std::optional<std::string_view>(std::uint64_t)> text;
};

}  // namespace gpufs
