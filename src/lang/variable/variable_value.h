#pragma once

#include <cstdint>
#include <optional>
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
    std::vector<Part> parts;         // the lowest bits first; 64 at most
    ir::Type type;                   // if `parts` have fewer bits, they are extended by its sign
    bool is_text = false;            // it is the address of one
    std::uint64_t code_address = 0;  // of the place, as linked
    // The one that the place is in, if steps need what registers had at its begin.
    struct Function {
        std::string name;
        std::uint64_t offset = 0;  // of its code, in the file
        ValueSteps frame;          // its CFA, at the place
        bool operator==(const Function&) const = default;
    };
    std::optional<Function> function;
    bool operator==(const VariableValue&) const = default;

    // "(%ax << 1)", "5 bits from bit 3 of [%bp-24]", "[%bp-24], %di".
    std::string to_text() const;
    // DWARF's numbers of the registers of which the value at the begin is needed.
    std::vector<unsigned> begin_registers() const;
};

// What a text asks for of a variable.
enum class VariableUse {
    number,   // what it is; of a text, where that is
    address,  // where it is, also of an array or a structure as a whole
    size,     // how many bytes it has
};

// What an instruction that names a field asks for, where that is a variable.
VariableUse variable_use(const CodeItem& item);

// What a text asks for of a variable at a place in code, by the path to it; without a value, why
// programs cannot have it.
struct NamedVariable {
    std::string name;  // "req->len"
    VariableUse use = VariableUse::number;
    std::optional<VariableValue> value;
    std::string trouble, hint;

    // As it is written: "@len", "&@name", "sizeof @name".
    std::string to_text() const;
};

// Why no program can read it so, for a person; empty if one can.
std::string trouble_with(const VariableValue& value);

// The variable, extended to 64 bits by its type; `context` is the struct pt_regs of the place.
// Memory that cannot be read is 0, as in the kernel's own records; where a value at the function's
// begin is needed and not known (begin_values.h), jumps to `unknown`. trouble_with() must be empty.
ir::Temp append_variable(ir::Code& code, ir::Temp context, const VariableValue& value,
                         ir::Label unknown);

// The same as a function of the context. What is not known is 0, and counted.
std::vector<CodeItem> variable_function(const VariableValue& value, const SourceRef& at);

}  // namespace gpufs
