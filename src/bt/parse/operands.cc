// Operands of expressions: literals, names, calls, and what stands in brackets.

#include <set>

#include "base/cat.h"
#include "base/scan.h"
#include "base/text.h"
#include "bt/parse/parser.h"
#include "bt/syntax/literals.h"
#include "bt/syntax/tree.h"
#include "bt/syntax/words.h"

namespace gpufs::bt {
namespace {

constexpr std::string_view kBuiltinPrefix = "__builtin_";

// "__builtin_pid", as the language's own library writes it, is "pid".
std::string plain_name(std::string_view name) {
    if (name.starts_with(kBuiltinPrefix) && is_builtin(name.substr(kBuiltinPrefix.size())))
        name.remove_prefix(kBuiltinPrefix.size());
    return std::string(name);
}

}  // namespace

ExprPtr Parser::operand() {
    switch (peek().kind) {
        case Token::Kind::number:
            return number_operand();
        case Token::Kind::character:
            return character_operand();
        case Token::Kind::string: {
            const Token token = take();
            ExprPtr text = make(Expr::Kind::string, token.at);
            text->text = string_value(token);
            return text;
        }
        case Token::Kind::positional:
            return positional_operand();
        case Token::Kind::positional_count: {
            ExprPtr count = make(Expr::Kind::positional_count, take().at);
            count->number = work_.positional.size();
            return count;
        }
        case Token::Kind::variable: {
            const Token token = take();
            ExprPtr variable = make(Expr::Kind::variable, token.at);
            variable->text = token.text.substr(1);
            return variable;
        }
        case Token::Kind::map:
            return map_operand();
        case Token::Kind::word:
            return word_operand();
        default:
            break;
    }
    if (is("(")) return parenthesized();
    if (is("{")) return block_operand();
    if (at_end() || is(")") || is("]") || is("}") || is(";") || is(",") ||
        peek().kind == Token::Kind::predicate_end)
        fail_missing("a value");
    if (is("=")) fail(peek(), "does not belong here", "== compares; assignments are statements");
    fail(peek(), "begins no value");
}

ExprPtr Parser::number_operand() {
    const Token token = take();
    ExprPtr number = make(Expr::Kind::integer, token.at);
    number->number = number_value(token);
    number->text = token.text;
    return number;
}

ExprPtr Parser::character_operand() {
    const Token token = take();
    if (!is_in_constant_) throw Mistake{token.at, kNoQuotes, kNoQuotesHint};
    ExprPtr number = make(Expr::Kind::integer, token.at);
    const std::int64_t value = character_value(token);
    number->number = static_cast<std::uint64_t>(value);
    number->is_negative = value < 0;
    return number;
}

ExprPtr Parser::positional_operand() {
    const Token token = take();
    ExprPtr positional = make(Expr::Kind::positional, token.at);
    Scan scan(token.text.substr(1));
    const auto index = scan.take_number<std::size_t>();
    if (!index || *index == 0)
        throw Mistake{token.at, cat("there is no argument ", token.text), "the first one is $1"};
    positional->number = *index;
    if (*index <= work_.positional.size()) positional->text = work_.positional[*index - 1];
    return positional;
}

ExprPtr Parser::map_operand() {
    const Token token = take();
    ExprPtr map = make(Expr::Kind::map, token.at);
    map->text = token.text.substr(1);
    if (!is("[")) return map;
    const Deeper deeper(*this);
    take();
    expressions_until("]", *map);
    if (map->operands.empty()) throw Mistake{from(token), "the key of the map is missing", ""};
    map->at = from(token);
    return map;
}

ExprPtr Parser::word_operand() {
    const Token name = peek();
    if (name.is("sizeof")) return size_of(take());
    if (name.is("offsetof")) return offset_of(take());
    if (name.is("if")) return if_operand();
    if (name.is("comptime")) {
        const Deeper deeper(*this);
        take();
        ExprPtr known = unary();
        known->is_comptime = true;
        return known;
    }
    if (name.is("true") || name.is("false")) {
        ExprPtr truth = make(Expr::Kind::boolean, take().at);
        truth->number = name.is("true");
        return truth;
    }
    if (name.is("struct") || name.is("union") || name.is("enum") || name.is("typeof") ||
        ((is_type_word(name.text) || is_c_type_part(name.text)) && !is("(", 1)))
        return type_operand();
    if (is_reserved(name.text) && !name.is("typeinfo")) fail(name, "begins no value");
    take();
    if (is("(")) return call(name);
    ExprPtr identifier = make(Expr::Kind::identifier, name.at);
    identifier->text = plain_name(name.text);
    return identifier;
}

ExprPtr Parser::type_operand() {
    const Token first = peek();
    ExprPtr type = make(Expr::Kind::type, first.at);
    type->type_name = type_name();
    type->at = from(first);
    return type;
}

ExprPtr Parser::call(const Token& name) {
    const Deeper deeper(*this);
    take();
    ExprPtr call = make(Expr::Kind::call, name.at);
    call->text = plain_name(name.text);
    expressions_until(")", *call);
    call->at = from(name);
    if (call->operands.empty() && is_builtin(call->text)) {
        call->kind = Expr::Kind::identifier;
        call->has_call_parentheses = true;
    }
    return call;
}

// Expressions between commas, and what closes them.
void Parser::expressions_until(std::string_view close, Expr& parent) {
    while (!take_if(close)) {
        adopt(parent, expression());
        if (!is(close) && !take_if(",")) fail_missing(cat("a ',' or the '", close, "'"));
    }
}

// "()", "(a)", "(a, b)", "(a,)", "(x=1)".
ExprPtr Parser::parenthesized() {
    const Deeper deeper(*this);
    const Token open = take();
    if (peek().kind == Token::Kind::word && is("=", 1)) return record(open);
    ExprPtr tuple = make(Expr::Kind::tuple, open.at);
    if (!is(")")) {
        ExprPtr first = expression();
        if (take_if(")")) return first;
        adopt(*tuple, std::move(first));
        if (!take_if(",")) fail_missing("a ',' or the ')'");
    }
    expressions_until(")", *tuple);
    tuple->at = from(open);
    return tuple;
}

ExprPtr Parser::record(const Token& open) {
    ExprPtr record = make(Expr::Kind::record, open.at);
    std::set<std::string_view> names;
    while (!take_if(")")) {
        const Token name = expect_word("the name of a field");
        if (!names.insert(name.text).second)
            throw Mistake{name.at, cat("the record has a field '", name.text, "' already"), ""};
        record->names.emplace_back(name.text);
        expect("=", "behind the name of the field");
        adopt(*record, expression());
        if (!is(")") && !take_if(",")) fail_missing("a ',' or the ')'");
    }
    record->at = from(open);
    return record;
}

// sizeof(TYPE), sizeof(EXPR)
ExprPtr Parser::size_of(const Token& keyword) {
    const Deeper deeper(*this);
    ExprPtr size = make(Expr::Kind::size_of, keyword.at);
    expect("(", "behind sizeof");
    const std::size_t end = behind_type(0);
    if (is_type_ahead(0) || (end > 1 && is(")", end) && !is("]", end - 1)))
        size->type_name = type_name();
    else
        adopt(*size, expression());
    expect(")", "of sizeof");
    size->at = from(keyword);
    return size;
}

// offsetof(TYPE, a.b), offsetof(EXPR, a.b)
ExprPtr Parser::offset_of(const Token& keyword) {
    const Deeper deeper(*this);
    ExprPtr offset = make(Expr::Kind::offset_of, keyword.at);
    expect("(", "behind offsetof");
    if (is_type_ahead(0))
        offset->type_name = type_name();
    else
        adopt(*offset, expression());
    expect(",", "behind the structure");
    do offset->path.emplace_back(expect_word("the name of a field").text);
    while (take_if("."));
    expect(")", "of offsetof");
    offset->at = from(keyword);
    return offset;
}

// if (CONDITION) { VALUE } else { VALUE }, as an operand.
ExprPtr Parser::if_operand() {
    const Deeper deeper(*this);
    const Token keyword = take();
    ExprPtr choice = make(Expr::Kind::ternary, keyword.at);
    adopt(*choice, condition());
    adopt(*choice, block_operand());
    if (!take_if("else")) fail_missing("the 'else' of an 'if' that has a value");
    adopt(*choice, is("if") ? if_operand() : block_operand());
    choice->at = from(keyword);
    return choice;
}

ExprPtr Parser::block_operand() {
    const Deeper deeper(*this);
    const Token open = peek();
    ExprPtr block = make(Expr::Kind::block, open.at);
    block->body = braced_block();
    ExprPtr value = value_of(block->body);
    block->height = height_of(block->body) + 1;
    adopt(*block, std::move(value));
    block->at = from(open);
    return block;
}

}  // namespace gpufs::bt
