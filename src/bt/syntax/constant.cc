#include "bt/syntax/constant.h"

namespace gpufs::bt {
namespace {

// The bits of an int64, or of a uint64.
struct Number {
    std::uint64_t bits = 0;
    bool is_unsigned = false;

    std::int64_t as_signed() const { return static_cast<std::int64_t>(bits); }
    bool is_negative() const { return !is_unsigned && as_signed() < 0; }
};

Number truth(bool holds) {
    return {holds};
}

std::optional<Number> of_unary(UnaryOp op, const Number& operand) {
    switch (op) {
        case UnaryOp::negate:
            return Number{0 - operand.bits};
        case UnaryOp::bit_not:
            return Number{~operand.bits};
        case UnaryOp::logical_not:
            return truth(operand.bits == 0);
        default:
            return std::nullopt;
    }
}

std::optional<Number> of_division(bool is_modulo, const Number& a, const Number& b,
                                  bool is_unsigned) {
    if (b.bits == 0) return std::nullopt;
    if (is_unsigned) return Number{is_modulo ? a.bits % b.bits : a.bits / b.bits, true};
    // The one quotient that does not fit wraps.
    if (b.as_signed() == -1) return Number{is_modulo ? 0 : 0 - a.bits};
    const std::int64_t x = a.as_signed(), y = b.as_signed();
    return Number{static_cast<std::uint64_t>(is_modulo ? x % y : x / y)};
}

std::optional<Number> of_binary(BinaryOp op, const Number& a, const Number& b) {
    const bool is_unsigned =
        (a.is_unsigned && !b.is_negative()) || (b.is_unsigned && !a.is_negative());
    const std::uint64_t x = a.bits, y = b.bits;
    const bool is_less = is_unsigned ? x < y : a.as_signed() < b.as_signed();
    switch (op) {
        case BinaryOp::add:
            return Number{x + y, is_unsigned};
        case BinaryOp::sub:
            return Number{x - y, is_unsigned};
        case BinaryOp::mul:
            return Number{x * y, is_unsigned};
        case BinaryOp::div:
        case BinaryOp::mod:
            return of_division(op == BinaryOp::mod, a, b, is_unsigned);
        case BinaryOp::shl:
            return Number{x << (y & 63), is_unsigned || a.is_unsigned};
        case BinaryOp::shr:
            if (is_unsigned || a.is_unsigned) return Number{x >> (y & 63), true};
            return Number{static_cast<std::uint64_t>(a.as_signed() >> (y & 63))};
        case BinaryOp::bit_and:
            return Number{x & y, is_unsigned};
        case BinaryOp::bit_or:
            return Number{x | y, is_unsigned};
        case BinaryOp::bit_xor:
            return Number{x ^ y, is_unsigned};
        case BinaryOp::eq:
            return truth(x == y);
        case BinaryOp::ne:
            return truth(x != y);
        case BinaryOp::lt:
            return truth(is_less);
        case BinaryOp::le:
            return truth(is_less || x == y);
        case BinaryOp::gt:
            return truth(!is_less && x != y);
        case BinaryOp::ge:
            return truth(!is_less);
        case BinaryOp::logical_and:
            return truth(x != 0 && y != 0);
        case BinaryOp::logical_or:
            return truth(x != 0 || y != 0);
    }
    return std::nullopt;
}

using Leaf = std::function<std::optional<std::int64_t>(const Expr&)>;

std::optional<Number> number_of(const Expr& expr, const Leaf& leaf) {
    const auto operand = [&](std::size_t i) { return number_of(*expr.operands[i], leaf); };
    switch (expr.kind) {
        case Expr::Kind::integer:
        case Expr::Kind::boolean:
            return Number{expr.number, expr.number > INT64_MAX && !expr.is_negative};
        case Expr::Kind::unary: {
            const auto value = operand(0);
            return value ? of_unary(expr.unary, *value) : std::nullopt;
        }
        case Expr::Kind::binary: {
            const auto left = operand(0), right = operand(1);
            return left && right ? of_binary(expr.binary, *left, *right) : std::nullopt;
        }
        case Expr::Kind::ternary: {
            const auto condition = operand(0);
            if (!condition) return condition;
            if (condition->bits == 0) return operand(2);
            return expr.operands[1] ? operand(1) : condition;
        }
        default: {
            const auto value = leaf(expr);
            if (!value) return std::nullopt;
            return Number{static_cast<std::uint64_t>(*value)};
        }
    }
}

template <class T>
bool wraps(BinaryOp op, T a, T b) {
    T result;
    switch (op) {
        case BinaryOp::add:
            return __builtin_add_overflow(a, b, &result);
        case BinaryOp::sub:
            return __builtin_sub_overflow(a, b, &result);
        case BinaryOp::mul:
            return __builtin_mul_overflow(a, b, &result);
        case BinaryOp::shl:
        case BinaryOp::shr:
            return static_cast<std::uint64_t>(b) >= 64;
        default:
            return false;
    }
}

}  // namespace

bool overflows(const Expr& expr, const Leaf& leaf) {
    const bool is_unary = expr.kind == Expr::Kind::unary;
    if (!is_unary && expr.kind != Expr::Kind::binary) return false;
    const auto a = number_of(*expr.operands[0], leaf);
    if (is_unary)
        return a && expr.unary == UnaryOp::negate && a->is_unsigned &&
               a->bits > std::uint64_t{1} << 63;
    const auto b = number_of(*expr.operands[1], leaf);
    if (!a || !b) return false;
    if (!a->is_unsigned && !b->is_unsigned)
        return wraps(expr.binary, a->as_signed(), b->as_signed());
    // What is negative with what fits only without a sign.
    if (a->is_negative() || b->is_negative()) return expr.binary <= BinaryOp::mul;
    return wraps(expr.binary, a->bits, b->bits);
}

std::optional<std::int64_t> constant_value(
    const Expr& expr, const std::function<std::optional<std::int64_t>(const Expr&)>& leaf) {
    const auto number = number_of(expr, leaf);
    return number ? std::optional(number->as_signed()) : std::nullopt;
}

}  // namespace gpufs::bt
