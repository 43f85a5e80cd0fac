#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lang/dwarf/type.h"
#include "lang/program/static_argument.h"

namespace gpufs::bt {

// Whether a number of so many bytes fills a register or a part that it has a name for.
bool is_register_size(std::uint64_t bytes);

// Where a function's parameters are when it begins, by the calling conventions of x86-64 (System V)
// and arm64 (AAPCS64): in the registers that are left, or behind one another on the stack.
class CallingConvention {
public:
    explicit CallingConvention(const DwarfType& result);

    // Of the next parameter. Unknown: in registers that probes do not see, or no number.
    StaticArgument place_of(const DwarfType& type);

private:
    StaticArgument take(std::size_t words);
    void take_floating(std::uint64_t bytes);
    void take_structure(const DwarfType& type, std::uint64_t bytes);
    void take_on_stack(std::uint64_t bytes, bool is_number);

    std::vector<std::size_t> registers_;  // in struct pt_regs
    std::size_t next_ = 0;
    std::size_t floating_left_ = 8;  // registers of floating point numbers
    std::int64_t stack_;             // from the stack pointer
};

}  // namespace gpufs::bt
