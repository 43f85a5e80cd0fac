// Statements and blocks.

#include <algorithm>

#include "base/cat.h"
#include "bt/parse/parser.h"
#include "bt/syntax/tree.h"

namespace gpufs::bt {
namespace {

StmtPtr make_statement(Stmt::Kind kind, SourceRef at) {
    auto statement = std::make_unique<Stmt>();
    statement->kind = kind;
    statement->at = at;
    return statement;
}

bool is_variable_or_map(const Expr& expr) {
    return expr.kind == Expr::Kind::variable || expr.kind == Expr::Kind::map;
}

}  // namespace

// { STATEMENTS }
Block Parser::braced_block() {
    if (!is("{")) fail_missing("a block in braces", "{ ... }");
    const Token open = take();
    return statements(open);
}

// Up to the '}' that belongs to `open`, with it.
Block Parser::statements(const Token& open) {
    const Deeper deeper(*this);
    Block block;
    for (;;) {
        while (take_if(";")) continue;
        if (take_if("}")) return block;
        if (at_end() || peek().begins_item)
            throw Mistake{open.at, "the '}' that closes this is missing", ""};
        const std::size_t begin = next_;
        try {
            StmtPtr one = statement();
            const bool may_lack_semicolon = !needs_semicolon(*one);
            block.push_back(std::move(one));
            // At an end the '}' is missing, not the ';'.
            const bool is_cut = at_end() || peek().begins_item;
            if (is(";") || is("}") || may_lack_semicolon || is_cut) continue;
            fail_missing("a ';'");
        } catch (const Mistake& mistake) {
            work_.report(mistake);
            if (work_.mistakes.is_full()) throw;
            if (next_ == begin) take();
            skip_statement();
        }
    }
}

// Behind the next ';' or '}' of what was opened since, or to the '}' of the block that is open.
void Parser::skip_statement() {
    for (std::size_t depth = 0; !at_end() && !peek().begins_item; take()) {
        if (is("{")) ++depth;
        if (is("}")) {
            if (depth == 0) return;
            --depth;
            if (depth == 0 && !is("else", 1) && !is(")", 1) && !is(",", 1)) {
                take();
                return;
            }
        }
        if (is(";") && depth == 0) {
            take();
            return;
        }
    }
}

bool Parser::needs_semicolon(const Stmt& statement) {
    switch (statement.kind) {
        case Stmt::Kind::if_:
        case Stmt::Kind::while_:
        case Stmt::Kind::unroll:
        case Stmt::Kind::for_map:
        case Stmt::Kind::for_range:
        case Stmt::Kind::block:
            return false;
        default:
            return true;
    }
}

// The last token of the block, its '}', was just taken.
bool Parser::has_value(const Block& block) const {
    if (block.empty()) return false;
    if (block.back()->kind == Stmt::Kind::if_) return block.back()->has_value;
    if (block.back()->kind != Stmt::Kind::expression) return false;
    return next_ >= 2 && !tokens_[next_ - 2].is(";");
}

ExprPtr Parser::value_of(Block& block) const {
    return has_value(block) ? take_value(block) : nullptr;
}

ExprPtr Parser::take_value(Block& block) const {
    const StmtPtr last = std::move(block.back());
    block.pop_back();
    if (last->kind == Stmt::Kind::expression) return std::move(last->value);
    const auto branch = [&](Block& body) {
        ExprPtr made = make(Expr::Kind::block, last->at);
        ExprPtr value = take_value(body);
        made->body = std::move(body);
        made->height = height_of(made->body) + 1;
        adopt(*made, std::move(value));
        return made;
    };
    ExprPtr choice = make(Expr::Kind::ternary, last->at);
    adopt(*choice, std::move(last->value));
    adopt(*choice, branch(last->body));
    adopt(*choice, branch(last->otherwise));
    return choice;
}

StmtPtr Parser::statement() {
    const Token first = peek();
    if (first.is("if")) return if_statement(take());
    if (first.is("while")) return loop_statement(take(), Stmt::Kind::while_);
    if (first.is("unroll")) return loop_statement(take(), Stmt::Kind::unroll);
    if (first.is("for")) return for_statement(take());
    if (first.is("let")) return let_statement(take());
    if (first.is("else")) fail(first, "has no 'if' in front of it");
    if (first.is("import"))
        fail(first, "does not belong in a block", "imports stand in front of the probes");
    if (first.is("break") || first.is("continue"))
        return make_statement(first.is("break") ? Stmt::Kind::break_ : Stmt::Kind::continue_,
                              take().at);
    if (first.is("return")) {
        StmtPtr leave = make_statement(Stmt::Kind::return_, take().at);
        if (!is(";") && !is("}")) leave->value = expression();
        leave->at = from(first);
        return leave;
    }
    if (first.is("{")) {
        StmtPtr block = make_statement(Stmt::Kind::block, first.at);
        block->body = braced_block();
        block->at = from(first);
        return block;
    }
    return expression_statement();
}

// EXPR, TARGET = EXPR, TARGET += EXPR, _ = EXPR
StmtPtr Parser::expression_statement() {
    const Token first = peek();
    StmtPtr statement = make_statement(Stmt::Kind::expression, first.at);
    statement->value = expression();
    const Token sign = peek();
    const auto operation = operation_of_assignment(sign.text);
    if (sign.kind == Token::Kind::sign && (sign.is("=") || operation)) {
        const bool is_discarded = sign.is("=") &&
                                  statement->value->kind == Expr::Kind::identifier &&
                                  statement->value->text == "_";
        if (!is_variable_or_map(*statement->value) && !is_discarded)
            throw Mistake{statement->value->at,
                          "only a variable or an element of a map can be assigned",
                          "$NAME = VALUE, @NAME[KEY] = VALUE"};
        take();
        statement->kind = Stmt::Kind::assign;
        statement->operation = operation;
        if (!is_discarded) statement->target = std::move(statement->value);
        statement->value = expression();
    }
    statement->at = from(first);
    return statement;
}

// What `if` and `while` ask; the parentheses around it may lack.
ExprPtr Parser::condition() {
    const Token first = peek();
    if (first.is("{")) fail_missing("a condition");
    return expression();
}

StmtPtr Parser::if_statement(const Token& keyword) {
    const Deeper deeper(*this);
    StmtPtr statement = make_statement(Stmt::Kind::if_, keyword.at);
    statement->value = condition();
    statement->body = braced_block();
    const bool has_first = has_value(statement->body);
    if (take_if("else")) {
        if (is("if"))
            statement->otherwise.push_back(if_statement(take()));
        else
            statement->otherwise = braced_block();
        statement->has_value = has_first && has_value(statement->otherwise);
    }
    statement->at = from(keyword);
    return statement;
}

StmtPtr Parser::loop_statement(const Token& keyword, Stmt::Kind kind) {
    StmtPtr loop = make_statement(kind, keyword.at);
    loop->value = condition();
    loop->body = braced_block();
    loop->at = from(keyword);
    return loop;
}

// for ($x : @map) { … }, for ($i : a..b) { … }
StmtPtr Parser::for_statement(const Token& keyword) {
    StmtPtr loop = make_statement(Stmt::Kind::for_map, keyword.at);
    const bool has_parentheses = take_if("(");
    if (peek().kind != Token::Kind::variable)
        fail_missing("the variable of the loop",
                     "for ($kv : @map) { ... }, for ($i : 0..10) { ... }");
    loop->name_at = peek().at;
    loop->name = take().text.substr(1);
    expect(":", "behind the variable of the loop");
    ExprPtr over = expression();
    if (take_if("..")) {
        loop->kind = Stmt::Kind::for_range;
        loop->value = std::move(over);
        loop->limit = expression();
    } else if (over->kind == Expr::Kind::map && over->operands.empty()) {
        loop->target = std::move(over);
    } else {
        throw Mistake{over->at, "a loop goes over a map or a range", "@map, 0..10"};
    }
    if (has_parentheses) expect(")", "behind what the loop goes over");
    loop->body = braced_block();
    loop->at = from(keyword);
    return loop;
}

// let $x; let $x = e; let $x : type = e;
StmtPtr Parser::let_statement(const Token& keyword) {
    StmtPtr statement = make_statement(Stmt::Kind::declare, keyword.at);
    if (peek().kind != Token::Kind::variable)
        fail_missing("the variable", "let $NAME = VALUE; let $NAME : TYPE;");
    statement->name = take().text.substr(1);
    if (take_if(":")) statement->type_name = type_name();
    if (take_if("=")) statement->value = expression();
    statement->at = from(keyword);
    return statement;
}

}  // namespace gpufs::bt
