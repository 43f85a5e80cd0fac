#include "bt/syntax/constant.h"

namespace gpufs::bt {
namespace {

std::optional<std::int64_t> of_unary(UnaryOp op, std::int64_t operand) {
    const auto bits = static_cast<std::uint64_t>(operand);
    switch (op) {
        case UnaryOp::negate:
            return static_cast<std::int64_t>(-bits);
        case UnaryOp::bit_not:
            return ~operand;
        case UnaryOp::logical_not:
            return operand == 0;
        default:
            return std::nullopt;
    }
}

std::optional<std::int64_t> of_division(bool is_modulo, std::int64_t a, std::int64_t b) {
    if (b == 0) return std::nullopt;
    // The one quotient that does not fit wraps.
    if (b == -1) return is_modulo ? 0 : static_cast<std::int64_t>(-static_cast<std::uint64_t>(a));
    return is_modulo ? a % b : a / b;
}

std::optional<std::int64_t> of_binary(BinaryOp op, std::int64_t a, std::int64_t b) {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    const auto wrapped = [](std::uint64_t bits) { return static_cast<std::int64_t>(bits); };
    switch (op) {
        case BinaryOp::add:
            return wrapped(x + y);
        case BinaryOp::sub:
            return wrapped(x - y);
        case BinaryOp::mul:
            return wrapped(x * y);
        case BinaryOp::div:
        case BinaryOp::mod:
            return of_division(op == BinaryOp::mod, a, b);
        case BinaryOp::shl:
            return wrapped(x << (y & 63));
        case BinaryOp::shr:
            return a >> (y & 63);
        case BinaryOp::bit_and:
            return a & b;
        case BinaryOp::bit_or:
            return a | b;
        case BinaryOp::bit_xor:
            return a ^ b;
        case BinaryOp::eq:
            return a == b;
        case BinaryOp::ne:
            return a != b;
        case BinaryOp::lt:
            return a < b;
        case BinaryOp::le:
            return a <= b;
        case BinaryOp::gt:
            return a > b;
        case BinaryOp::ge:
            return a >= b;
        case BinaryOp::logical_and:
            return a != 0 && b != 0;
        case BinaryOp::logical_or:
            return a != 0 || b != 0;
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> constant_value(
    const Expr& expr, const std::function<std::optional<std::int64_t>(const Expr&)>& leaf) {
    const auto operand = [&](std::size_t i) { return constant_value(*expr.operands[i], leaf); };
    switch (expr.kind) {
        case Expr::Kind::integer:
        case Expr::Kind::boolean:
            return static_cast<std::int64_t>(expr.number);
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
            if (*condition == 0) return operand(2);
            return expr.operands[1] ? operand(1) : condition;
        }
        default:
            return leaf(expr);
    }
}

}  // namespace gpufs::bt
