#include <algorithm>
#include <charconv>

#include "bt/types/typed.h"

namespace gpufs::bt {
namespace {

std::optional<std::int64_t> number_in(const std::string& text) {
    std::int64_t number = 0;
    const bool is_hex = text.starts_with("0x");
    const char* begin = text.data() + (is_hex ? 2 : 0);
    const auto [end, code] =
        std::from_chars(begin, text.data() + text.size(), number, is_hex ? 16 : 10);
    const auto is_whole = [&](const char* stop, std::errc error) {
        return !text.empty() && error == std::errc() && stop == text.data() + text.size();
    };
    if (is_whole(end, code)) return number;
    std::uint64_t large = 0;
    const auto [stop, error] =
        std::from_chars(begin, text.data() + text.size(), large, is_hex ? 16 : 10);
    if (is_whole(stop, error)) return static_cast<std::int64_t>(large);
    return std::nullopt;
}

std::optional<std::int64_t> computed(BinaryOp op, std::int64_t a, std::int64_t b) {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    const auto as_signed = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
    switch (op) {
        case BinaryOp::add:
            return as_signed(x + y);
        case BinaryOp::sub:
            return as_signed(x - y);
        case BinaryOp::mul:
            return as_signed(x * y);
        case BinaryOp::div:
        case BinaryOp::mod:
            if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
            return op == BinaryOp::div ? a / b : a % b;
        case BinaryOp::shl:
            return as_signed(x << (y & 63));
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
            return a && b;
        case BinaryOp::logical_or:
            return a || b;
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> literal_of(const Expr& expr) {
    if (expr.kind == Expr::Kind::string) return expr.text;
    if (expr.kind == Expr::Kind::positional) return expr.text;
    if (expr.kind == Expr::Kind::call && expr.text == "str" && expr.operands.size() == 1)
        return argument_text(*expr.operands[0]);
    return std::nullopt;
}

std::optional<std::string> argument_text(const Expr& expr) {
    if (expr.kind == Expr::Kind::positional) return expr.text;
    if (expr.kind != Expr::Kind::binary || expr.binary != BinaryOp::add) return std::nullopt;
    const Expr &of = *expr.operands[0], &from = *expr.operands[1];
    if (of.kind != Expr::Kind::positional || from.kind != Expr::Kind::integer) return std::nullopt;
    return of.text.substr(std::min<std::uint64_t>(from.number, of.text.size()));
}

std::optional<std::int64_t> constant_of(const Expr& expr, const Instance& instance,
                                        const TypeTable& table) {
    const auto of = [&](std::size_t operand) {
        return constant_of(*expr.operands[operand], instance, table);
    };
    switch (expr.kind) {
        case Expr::Kind::integer:
        case Expr::Kind::boolean:
        case Expr::Kind::positional_count:
            return static_cast<std::int64_t>(expr.number);
        case Expr::Kind::positional:
            return expr.text.empty() ? 0 : number_in(expr.text);
        case Expr::Kind::identifier:
            if (const auto known = table.constant(expr.text)) return known->number;
            return std::nullopt;
        case Expr::Kind::unary: {
            const auto value = of(0);
            if (!value) return std::nullopt;
            if (expr.unary == UnaryOp::negate)
                return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(*value));
            if (expr.unary == UnaryOp::bit_not) return ~*value;
            if (expr.unary == UnaryOp::logical_not) return !*value;
            return std::nullopt;
        }
        case Expr::Kind::binary: {
            const auto a = of(0), b = a ? of(1) : std::nullopt;
            return a && b ? computed(expr.binary, *a, *b) : std::nullopt;
        }
        case Expr::Kind::size_of:
        case Expr::Kind::offset_of: {
            // The inference has put the number beside the type.
            const auto known = instance.constants.find(&expr);
            if (known == instance.constants.end()) return std::nullopt;
            return known->second;
        }
        default:
            return std::nullopt;
    }
}

}  // namespace gpufs::bt
