#pragma once

#include <cstdint>

#include "lang/insn/isa.h"
#include "lang/ir/ir.h"

// What operations mean, and what BPF calls them. Private to the ir*.cc files.
namespace gpufs::ir {

// May it be an immediate, which is extended to 64 bits by its sign?
inline bool fits_s32(std::uint64_t number) {
    return converted(number, kS32) == number;
}

Width width_of(Type type);

// Is every value of one type a value of the other, with the same 64 bits?
bool includes(Type wide, Type narrow);

std::uint64_t shift_count(std::uint64_t count, Type type);
// What the operation makes of two numbers of the type; to be converted to the type.
std::uint64_t folded(Op op, Type type, std::uint64_t a, std::uint64_t b);
bool is_true(Cmp cmp, Type type, std::uint64_t a, std::uint64_t b);

JumpOp jump_op(Cmp cmp, bool is_signed);
AluOp alu_op(Op op, bool is_signed);
// The comparison with its operands in the other order.
Cmp mirrored(Cmp cmp);
// Does the operation on values of the type always give one?
bool stays_in_type(Op op, Type type);

}  // namespace gpufs::ir
