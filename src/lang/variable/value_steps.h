#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lang/ir/ir.h"

namespace gpufs {

// A step of a computation on a stack of numbers, each extended to 64 bits by its type. What
// location expressions of DWARF come to.
struct ValueStep {
    enum class Kind {
        constant,     // pushes `number`
        linked,       // pushes the address `number`, as linked
        in_register,  // pushes the register `number`, by DWARF
        thread,       // pushes the thread pointer: the address of what each thread has of its own
        // Of one operand.
        at_begin,  // as it was when the function began
        read,      // it is an address: the `type` there
        convert,   // to `type`
        negate,    // this one and all below: in `type`
        invert,
        absolute,
        // Of three: the second, where the first is not 0, else the third.
        choose,
        // Of two.
        add,
        subtract,
        multiply,
        divide,
        rest,
        bit_and,
        bit_or,
        bit_xor,
        shift_left,
        shift_right,
        equal,
        not_equal,
        less,
        less_equal,
        greater,
        greater_equal,
    };
    Kind kind = Kind::constant;
    std::int64_t number = 0;
    ir::Type type = ir::kU64;
    bool operator==(const ValueStep&) const = default;

    bool is_unary() const { return kind >= Kind::at_begin && kind <= Kind::absolute; }
    bool is_binary() const { return kind >= Kind::add; }
};
using ValueSteps = std::vector<ValueStep>;

// What a step makes of constants that are of its type; absent for a division by 0, and for what is
// no arithmetic.
std::optional<std::uint64_t> computed(const ValueStep& step, std::uint64_t left,
                                      std::uint64_t right = 0);

// Appends steps of two operands, and the last one.
ValueSteps joined(ValueSteps left, const ValueSteps& right, const ValueStep& last);

// "%di"; "register 17" of one that tracefs has no name for. By DWARF's number.
std::string register_text(unsigned reg);

// As people write it: "(%ax << 1)", "[%bp-24]+8". What is longer than 200 characters is "(…)".
std::string to_text(const ValueSteps& steps);

}  // namespace gpufs
