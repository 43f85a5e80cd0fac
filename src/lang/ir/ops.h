#pragma once

#include <cstdint>

#include "lang/insn/isa.h"
#include "lang/ir/ir.h"

// The semantics of operations, and their BPF opcodes. Private to this folder.
namespace gpufs::ir {

// Whether the number can be an immediate, which is sign-extended to 64 bits.
inline bool fits_s32(std::uint64_t number) {
    return converted(number, kS32) == number;
}

Width width_of(Type type);

// Whether every value of one type is a value of the other, with the same 64 bits.
bool includes(Type wide, Type narrow);

std::uint64_t shift_count(std::uint64_t count, Type type);
// Computes the operation on two constants of the type; the caller converts the result to the type.
std::uint64_t folded(Op op, Type type, std::uint64_t a, std::uint64_t b);
bool is_true(Cmp cmp, Type type, std::uint64_t a, std::uint64_t b);

JumpOp jump_op(Cmp cmp, bool is_signed);
AluOp alu_op(Op op, bool is_signed);
// The comparison for swapped operands.
Cmp mirrored(Cmp cmp);
// Whether the result of the operation on values of the type is always a value of the type.
bool stays_in_type(Op op, Type type);

}  // namespace gpufs::ir
