#include <bit>

#include "base/cat.h"
#include "bt/infer/inference.h"
#include "bt/syntax/tree.h"
#include "bt/types/common_type.h"

// Operators.
namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

bool is_logical(BinaryOp op) {
    return op == BinaryOp::logical_and || op == BinaryOp::logical_or;
}

}  // namespace

TypePtr Inference::type_of_unary(const Expr& expr) {
    const TypePtr of = type_of(*expr.operands[0]);
    if (!of) return nullptr;
    check_folds(expr);
    if (expr.unary == UnaryOp::address_of) {
        if (expr.operands[0]->kind == Expr::Kind::variable) return pointer_type(of, Space::kernel);
        complain(expr.at, "only variables have an address here");
        return nullptr;
    }
    if (expr.unary == UnaryOp::dereference) {
        if (of->is(Kind::pointer) && of->element && !of->element->is(Kind::none)) {
            const TypePtr there = whole(of->element);
            if (!there->is(Kind::structure) || there->structure) return as_value(there);
            complain(expr.at, gpufs::cat("how large '", name_of(*there), "' is is not known"),
                     "it is only declared, not defined");
            return nullptr;
        }
        if (is_computable(*of)) return integer_type(kWord, false);
    } else if (expr.unary == UnaryOp::logical_not && is_computable(*of)) {
        return in_.options.is_old ? integer_type(of->bytes, false) : boolean_type();
    } else if (of->is_number()) {
        if (const auto number = constant(expr); number && *number < 0)
            return in_.options.is_old ? integer_type(kWord, true) : literal_type(*number);
        const bool is_signed =
            expr.unary == UnaryOp::negate || (in_.options.is_old ? fits_int64(*of) : of->is_signed);
        return integer_type(kWord, is_signed);
    }
    static constexpr const char* kNames[] = {"-", "~", "!", "*", "&"};
    complain(expr.at,
             gpufs::cat("The ", kNames[static_cast<std::size_t>(expr.unary)],
                        " operator can not be used on expressions of type '", name_of(*of), '\''));
    return nullptr;
}

void Inference::check_folds(const Expr& expr) {
    if (!in_.options.is_old && overflows(expr, *instance_, in_.table))
        complain(expr.at, "unable to fold literals due to overflow or underflow",
                 "the result does not fit in 64 bits");
}

TypePtr Inference::type_of_binary(const Expr& expr) {
    TypePtr a = type_of(*expr.operands[0]), b = type_of(*expr.operands[1]);
    if (takes_other_operand_ && !a) a = b;
    if (takes_other_operand_ && !b) b = a;
    if (!a || !b) return nullptr;
    if (is_logical(expr.binary)) {
        if (is_computable(*a) && is_computable(*b)) return truth_of(*a, *b);
    } else if (expr.binary >= BinaryOp::eq && expr.binary <= BinaryOp::ge) {
        return type_of_comparison(expr, a, b);
    } else if (a->is_number() && b->is_number()) {
        check_folds(expr);
        const auto is_plain = [&](std::size_t i) {
            const auto number = constant(*expr.operands[i]);
            return number && *number >= 0;
        };
        // As adding what is negative would be.
        if (expr.binary == BinaryOp::sub && !in_.options.is_old) return integer_type(kWord, true);
        if ((!fits_int64(*a) && is_plain(1)) || (!fits_int64(*b) && is_plain(0)) ||
            (!in_.options.is_old && grows_beyond_int64(expr, *a, *b)))
            return integer_type(kWord, false);
        if (expr.binary == BinaryOp::shl || expr.binary == BinaryOp::shr)
            return integer_type(kWord, in_.options.is_old ? a->is_signed : fits_int64(*a));
        // As in C; a negative constant says that the other one is meant signed.
        const bool is_division = expr.binary == BinaryOp::div || expr.binary == BinaryOp::mod;
        if (is_division && !in_.options.is_old && is_of_mixed_signs(expr, *a, *b))
            return integer_type(kWord, false);
        const bool is_signed =
            in_.options.is_old ? a->is_signed && b->is_signed : is_signed_together(*a, *b);
        return integer_type(kWord, is_signed);
    } else if (a->is(Kind::pointer) && b->is_number() &&
               (expr.binary == BinaryOp::add || expr.binary == BinaryOp::sub)) {
        return a;
    } else if (b->is(Kind::pointer) && a->is_number() && expr.binary == BinaryOp::add) {
        return b;
    } else if (is_computable(*a) && is_computable(*b)) {
        return integer_type(kWord, false);
    }
    complain(expr.at, gpufs::cat("Type mismatch: no such operation for '", name_of(*a), "' and '",
                                 name_of(*b), '\''));
    return nullptr;
}

// A product or a shift of what is not negative, which may take all 64 bits.
bool Inference::grows_beyond_int64(const Expr& expr, const Type& a, const Type& b) const {
    constexpr unsigned kBits = 63;
    const auto bits_of = [&](std::size_t i, const Type& type) -> std::optional<unsigned> {
        if (const auto number = constant(*expr.operands[i]); number && *number >= 0)
            return std::bit_width(static_cast<std::uint64_t>(*number));
        if (!type.is(Kind::integer) || type.is_signed) return std::nullopt;
        return static_cast<unsigned>(8 * told_size(type));
    };
    const auto left = bits_of(0, a), right = bits_of(1, b);
    if (!left || constant(expr)) return false;
    if (expr.binary == BinaryOp::mul) return right && *left + *right > kBits;
    if (expr.binary != BinaryOp::shl || constant(*expr.operands[0])) return false;
    const auto shift = constant(*expr.operands[1]);
    return !shift || *left + static_cast<std::uint64_t>(*shift) > kBits;
}

// To bpftrace 0.17, 8 bytes as what comes of all numbers: signed where both are.
TypePtr Inference::truth_of(const Type& a, const Type& b) const {
    return in_.options.is_old ? integer_type(kWord, a.is_signed && b.is_signed) : boolean_type();
}

// An uint64 with what may be negative, both unknown before it runs.
bool Inference::is_of_mixed_signs(const Expr& expr, const Type& a, const Type& b) const {
    if (!a.is(Kind::integer) || !b.is(Kind::integer) || fits_int64(a) == fits_int64(b))
        return false;
    return (a.is_signed || b.is_signed) && !constant(*expr.operands[0]) &&
           !constant(*expr.operands[1]);
}

TypePtr Inference::type_of_comparison(const Expr& expr, const TypePtr& a, const TypePtr& b) {
    TypePtr truth = truth_of(*a, *b);
    const bool is_equality = expr.binary == BinaryOp::eq || expr.binary == BinaryOp::ne;
    const auto is_text = [](const Type& type) {
        return type.is(Kind::string) || type.is(Kind::probe_name);
    };
    if (is_text(*a) && is_text(*b)) {
        if (!is_equality) complain(expr.at, "texts can be compared with == and != only");
        return truth;
    }
    const auto is_word = [](const Type& type) {
        return type.is_scalar() && !type.is(Kind::probe_name);
    };
    if (!is_equality && !in_.options.is_old && is_of_mixed_signs(expr, *a, *b))
        in_.warn(expr.at, gpufs::cat(name_of(*a), " and ", name_of(*b),
                                     " are compared as int64: numbers from 2^63 on are negative"));
    if (is_word(*a) && is_word(*b)) return truth;
    const bool is_memory =
        a->is(Kind::tuple) ? merged(a, b) != nullptr : a->kind == b->kind && a->bytes == b->bytes;
    if (is_memory && !a->is(Kind::none)) {
        if (!is_equality)
            complain(expr.at,
                     gpufs::cat(
                         a->is(Kind::tuple) ? "tuples" : gpufs::cat("values of type ", name_of(*a)),
                         " can be compared with == and != only"));
        return truth;
    }
    complain(expr.at, gpufs::cat("Type mismatch: '", name_of(*a), "' cannot be compared with '",
                                 name_of(*b), '\''));
    return nullptr;
}

TypePtr Inference::type_of_increment(const Expr& expr) {
    const Expr& target = *expr.operands[0];
    const auto is_small = [](const TypePtr& type) {
        return type && type->is(Kind::integer) && type->words.empty() && fits_int64(*type);
    };
    if (target.kind == Expr::Kind::map) {
        TypedMap& map = map_of(target);
        add_key(map, target);
        if (!map.value || is_small(map.value)) put(map, expr.at, integer_type(kWord, true));
    } else if (target.kind == Expr::Kind::variable) {
        const auto use = instance_->uses.find(&target);
        if (use != instance_->uses.end() && is_small(instance_->variables[use->second].type))
            put(instance_->variables[use->second], expr.at, integer_type(kWord, true));
    } else {
        complain(expr.at, "only variables and maps can be incremented");
        return nullptr;
    }
    TypePtr type = type_of(target);
    if (type && !is_computable(*type)) {
        complain(expr.at, gpufs::cat("The ", expr.is_decrement ? "--" : "++",
                                     " operator can not be used on expressions of type '",
                                     name_of(*type), '\''));
        return nullptr;
    }
    return type;
}

}  // namespace gpufs::bt
