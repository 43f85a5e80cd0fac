#include "lang/ir/ops.h"

#include <stdexcept>

#include "base/extend.h"

namespace gpufs::ir {

std::uint64_t converted(std::uint64_t value, Type type) {
    return extend(value, type.bytes, type.is_signed);
}

Width width_of(Type type) {
    switch (type.bytes) {
        case 1:
            return Width::b;
        case 2:
            return Width::h;
        case 4:
            return Width::w;
        case 8:
            return Width::dw;
        default:
            throw std::logic_error("an integer of this size does not exist");
    }
}

bool includes(Type wide, Type narrow) {
    if (wide.bytes == 8 || wide == narrow) return true;
    return narrow.bytes < wide.bytes && (wide.is_signed || !narrow.is_signed);
}

static std::uint64_t divide(std::uint64_t a, std::uint64_t b, Type type, bool wants_rest) {
    if (b == 0) return wants_rest ? a : 0;
    if (!type.is_signed) return wants_rest ? a % b : a / b;
    if (b == ~std::uint64_t{0}) return wants_rest ? 0 : 0 - a;
    const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
    return static_cast<std::uint64_t>(wants_rest ? x % y : x / y);
}

std::uint64_t shift_count(std::uint64_t count, Type type) {
    return count & (type.bytes == 8 ? 63 : 31);
}

std::uint64_t folded(Op op, Type type, std::uint64_t a, std::uint64_t b) {
    switch (op) {
        case Op::add:
            return a + b;
        case Op::sub:
            return a - b;
        case Op::mul:
            return a * b;
        case Op::div:
        case Op::mod:
            return divide(a, b, type, op == Op::mod);
        case Op::bit_and:
            return a & b;
        case Op::bit_or:
            return a | b;
        case Op::bit_xor:
            return a ^ b;
        case Op::shl:
            return a << shift_count(b, type);
        case Op::shr:
            break;
    }
    const std::uint64_t count = shift_count(b, type);
    return type.is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(a) >> count)
                          : a >> count;
}

bool is_true(Cmp cmp, Type type, std::uint64_t a, std::uint64_t b) {
    const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
    switch (cmp) {
        case Cmp::eq:
            return a == b;
        case Cmp::ne:
            return a != b;
        case Cmp::lt:
            return type.is_signed ? x < y : a < b;
        case Cmp::le:
            return type.is_signed ? x <= y : a <= b;
        case Cmp::gt:
            return type.is_signed ? x > y : a > b;
        case Cmp::ge:
            return type.is_signed ? x >= y : a >= b;
        case Cmp::any_bits:
            break;
    }
    return (a & b) != 0;
}

JumpOp jump_op(Cmp cmp, bool is_signed) {
    switch (cmp) {
        case Cmp::eq:
            return JumpOp::eq;
        case Cmp::ne:
            return JumpOp::ne;
        case Cmp::lt:
            return is_signed ? JumpOp::slt : JumpOp::lt;
        case Cmp::le:
            return is_signed ? JumpOp::sle : JumpOp::le;
        case Cmp::gt:
            return is_signed ? JumpOp::sgt : JumpOp::gt;
        case Cmp::ge:
            return is_signed ? JumpOp::sge : JumpOp::ge;
        case Cmp::any_bits:
            break;
    }
    return JumpOp::set;
}

Cmp mirrored(Cmp cmp) {
    switch (cmp) {
        case Cmp::lt:
            return Cmp::gt;
        case Cmp::le:
            return Cmp::ge;
        case Cmp::gt:
            return Cmp::lt;
        case Cmp::ge:
            return Cmp::le;
        default:
            return cmp;
    }
}

bool stays_in_type(Op op, Type type) {
    switch (op) {
        case Op::bit_and:
        case Op::bit_or:
        case Op::bit_xor:
        case Op::shr:
            return true;
        case Op::div:
        case Op::mod:
            return !type.is_signed;
        default:
            return false;
    }
}

AluOp alu_op(Op op, bool is_signed) {
    switch (op) {
        case Op::add:
            return AluOp::add;
        case Op::sub:
            return AluOp::sub;
        case Op::mul:
            return AluOp::mul;
        case Op::div:
            return AluOp::div;
        case Op::mod:
            return AluOp::mod;
        case Op::bit_and:
            return AluOp::and_;
        case Op::bit_or:
            return AluOp::or_;
        case Op::bit_xor:
            return AluOp::xor_;
        case Op::shl:
            return AluOp::lsh;
        case Op::shr:
            break;
    }
    return is_signed ? AluOp::arsh : AluOp::rsh;
}

}  // namespace gpufs::ir
