#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/ir/ir.h"
#include "lang/variable/value_steps.h"

namespace gpufs {

// How a program that runs at a place of some code reads a variable that is visible there: from the
// registers, which it is given, and from the process's memory.
struct VariableValue {
    // Bits of it, and what has them: where `in_memory`, the steps lead to their address.
    struct Part {
        ValueSteps steps;
        bool in_memory = false;
        unsigned first_bit = 0;
        unsigned bits = 64;
        bool operator==(const Part&) const = default;
    };
    std::vector<Part> parts;  // the lowest bits first; 64 at most
    ir::Type type;            // if `parts` have fewer bits, they are extended by its sign
    bool is_text = false;     // it is the address of one
    std::uint64_t code_address = 0;  // of the place, as linked
    bool operator==(const VariableValue&) const = default;

    // "(%ax << 1)", "5 bits from bit 3 of [%bp-24]", "[%bp-24], %di".
    std::string to_text() const;
};

// Why no program can read it so, for a person; empty if one can.
std::string trouble_with(const VariableValue& value);

// The variable, extended to 64 bits by its type; `context` is the struct pt_regs of the place.
// Memory that cannot be read is 0, as in the kernel's own records. trouble_with() must be empty.
ir::Temp append_variable(ir::Code& code, ir::Temp context, const VariableValue& value);

// The same as a function of the context.
std::vector<CodeItem> variable_function(const VariableValue& value, const SourceRef& at);

}  // namespace gpufs
