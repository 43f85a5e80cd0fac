// Expressions: operators and what binds them. Operands are in operands.cc.

#include <algorithm>
#include <array>

#include "base/cat.h"
#include "base/scan.h"
#include "bt/parse/parser.h"
#include "bt/syntax/literals.h"
#include "bt/syntax/tree.h"

namespace gpufs::bt {
namespace {

struct BinaryRow {
    std::string_view sign;
    BinaryOp op;
    int strength;
};
// From the weakest to the strongest, as in C.
constexpr std::array kBinary{
    BinaryRow{"||", BinaryOp::logical_or, 1}, BinaryRow{"&&", BinaryOp::logical_and, 2},
    BinaryRow{"|", BinaryOp::bit_or, 3},      BinaryRow{"^", BinaryOp::bit_xor, 4},
    BinaryRow{"&", BinaryOp::bit_and, 5},     BinaryRow{"==", BinaryOp::eq, 6},
    BinaryRow{"!=", BinaryOp::ne, 6},         BinaryRow{"<", BinaryOp::lt, 7},
    BinaryRow{"<=", BinaryOp::le, 7},         BinaryRow{">", BinaryOp::gt, 7},
    BinaryRow{">=", BinaryOp::ge, 7},         BinaryRow{"<<", BinaryOp::shl, 8},
    BinaryRow{">>", BinaryOp::shr, 8},        BinaryRow{"+", BinaryOp::add, 9},
    BinaryRow{"-", BinaryOp::sub, 9},         BinaryRow{"*", BinaryOp::mul, 10},
    BinaryRow{"/", BinaryOp::div, 10},        BinaryRow{"%", BinaryOp::mod, 10},
};

struct UnaryRow {
    std::string_view sign;
    UnaryOp op;
};
constexpr std::array kUnary{
    UnaryRow{"-", UnaryOp::negate},     UnaryRow{"!", UnaryOp::logical_not},
    UnaryRow{"~", UnaryOp::bit_not},    UnaryRow{"*", UnaryOp::dereference},
    UnaryRow{"&", UnaryOp::address_of},
};

const auto* row_of(const auto& rows, const Token& token) {
    const auto row = std::ranges::find_if(rows, [&](auto& r) { return token.is(r.sign); });
    return row == rows.end() ? nullptr : &*row;
}

}  // namespace

const char* sign_of(BinaryOp op) {
    return std::ranges::find(kBinary, op, &BinaryRow::op)->sign.data();
}
const char* sign_of(UnaryOp op) {
    return std::ranges::find(kUnary, op, &UnaryRow::op)->sign.data();
}
std::optional<BinaryOp> operation_of_assignment(std::string_view sign) {
    if (sign.size() < 2 || !sign.ends_with('=')) return std::nullopt;
    sign.remove_suffix(1);
    const auto row = std::ranges::find(kBinary, sign, &BinaryRow::sign);
    if (row == kBinary.end() || row->strength < 3 || row->strength == 6 || row->strength == 7)
        return std::nullopt;
    return row->op;
}

ExprPtr Parser::make(Expr::Kind kind, SourceRef at) const {
    auto expr = std::make_unique<Expr>();
    expr->kind = kind;
    expr->at = at;
    return expr;
}
void Parser::adopt(Expr& parent, ExprPtr child) const {
    if (child) parent.height = std::max(parent.height, child->height + 1);
    check_height(parent.height);
    parent.operands.push_back(std::move(child));
}

ExprPtr Parser::only_expression() {
    is_in_constant_ = true;
    ExprPtr expr = expression();
    if (!at_end()) fail(peek(), "is too much behind the expression");
    return expr;
}

ExprPtr Parser::expression() {
    const Deeper deeper(*this);
    ExprPtr condition = binary(1);
    if (!take_if("?")) return condition;
    const SourceRef begin = condition->at;
    ExprPtr choice = make(Expr::Kind::ternary, begin);
    adopt(*choice, std::move(condition));
    if (take_if(":")) {
        adopt(*choice, nullptr);
    } else {
        adopt(*choice, expression());
        expect(":", "behind the first of two choices");
    }
    adopt(*choice, expression());
    choice->at = from(begin);
    return choice;
}

// Operators that bind at least as strongly as `lowest`, the left ones first.
ExprPtr Parser::binary(int lowest) {
    ExprPtr left = unary();
    for (;;) {
        const BinaryRow* row = row_of(kBinary, peek());
        if (row == nullptr || row->strength < lowest) return left;
        take();
        const SourceRef begin = left->at;
        ExprPtr both = make(Expr::Kind::binary, begin);
        both->binary = row->op;
        adopt(*both, std::move(left));
        adopt(*both, binary(row->strength + 1));
        both->at = from(begin);
        left = std::move(both);
    }
}

ExprPtr Parser::unary() {
    const Token sign = peek();
    if (sign.is("++") || sign.is("--")) {
        const Deeper deeper(*this);
        take();
        ExprPtr step = make(Expr::Kind::increment, sign.at);
        step->is_decrement = sign.is("--");
        adopt(*step, unary());
        step->at = from(sign);
        return step;
    }
    const UnaryRow* row = row_of(kUnary, sign);
    if (row == nullptr) return postfix();
    const Deeper deeper(*this);
    take();
    ExprPtr expr = make(Expr::Kind::unary, sign.at);
    expr->unary = row->op;
    adopt(*expr, unary());
    expr->at = from(sign);
    return expr;
}

ExprPtr Parser::postfix() {
    if (is("(") && is_cast_ahead()) {
        const Deeper deeper(*this);
        const Token open = take();
        ExprPtr cast = make(Expr::Kind::cast, open.at);
        cast->type_name = type_name();
        expect(")", "behind the type");
        adopt(*cast, unary());
        cast->at = from(open);
        return cast;
    }
    ExprPtr expr = operand();
    for (;;) {
        const SourceRef begin = expr->at;
        if (is("->") || is(".")) {
            const bool is_arrow = take().is("->");
            expr = member_access(std::move(expr), is_arrow);
        } else if (take_if("[")) {
            ExprPtr element = make(Expr::Kind::index, begin);
            adopt(*element, std::move(expr));
            adopt(*element, expression());
            expect("]", "behind the index");
            expr = std::move(element);
        } else if (is("++") || is("--")) {
            ExprPtr step = make(Expr::Kind::increment, begin);
            step->is_postfix = true;
            step->is_decrement = take().is("--");
            adopt(*step, std::move(expr));
            expr = std::move(step);
        } else {
            return expr;
        }
        expr->at = from(begin);
    }
}

// What follows a '.' or "->".
ExprPtr Parser::member_access(ExprPtr object, bool is_arrow) {
    const SourceRef begin = object->at;
    const Token name = peek();
    if (name.kind == Token::Kind::number) {
        ExprPtr element = make(Expr::Kind::tuple_index, begin);
        if (!std::ranges::all_of(name.text, is_digit))
            fail(name, "is no number of an element", "the elements of a tuple are .0, .1, ...");
        element->number = number_value(take());
        adopt(*element, std::move(object));
        return element;
    }
    ExprPtr member = make(Expr::Kind::member, begin);
    member->is_arrow = is_arrow;
    member->text = expect_word("the name of a field").text;
    adopt(*member, std::move(object));
    return member;
}

}  // namespace gpufs::bt
