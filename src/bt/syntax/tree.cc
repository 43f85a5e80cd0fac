#include "bt/syntax/tree.h"

#include <algorithm>

namespace gpufs::bt {
namespace {

ExprPtr clone_if(const ExprPtr& expr) {
    return expr ? clone(*expr) : nullptr;
}

}  // namespace

TypeName clone(const TypeName& type) {
    TypeName copy;
    copy.kind = type.kind;
    copy.name = type.name;
    copy.pointers = type.pointers;
    copy.dimensions = type.dimensions;
    copy.of = clone_if(type.of);
    copy.at = type.at;
    return copy;
}

ExprPtr clone(const Expr& expr) {
    auto copy = std::make_unique<Expr>();
    copy->kind = expr.kind;
    copy->at = expr.at;
    copy->text = expr.text;
    copy->number = expr.number;
    copy->is_arrow = expr.is_arrow;
    copy->is_decrement = expr.is_decrement;
    copy->is_postfix = expr.is_postfix;
    copy->has_call_parentheses = expr.has_call_parentheses;
    copy->is_comptime = expr.is_comptime;
    copy->is_negative = expr.is_negative;
    copy->is_function = expr.is_function;
    copy->height = expr.height;
    copy->unary = expr.unary;
    copy->binary = expr.binary;
    for (const ExprPtr& operand : expr.operands) copy->operands.push_back(clone_if(operand));
    copy->names = expr.names;
    copy->path = expr.path;
    copy->type_name = clone(expr.type_name);
    copy->body = clone(expr.body);
    copy->expanded_from = expr.expanded_from;
    return copy;
}

StmtPtr clone(const Stmt& statement) {
    auto copy = std::make_unique<Stmt>();
    copy->kind = statement.kind;
    copy->at = statement.at;
    copy->name = statement.name;
    copy->name_at = statement.name_at;
    copy->target = clone_if(statement.target);
    copy->value = clone_if(statement.value);
    copy->limit = clone_if(statement.limit);
    copy->operation = statement.operation;
    if (statement.type_name) copy->type_name = clone(*statement.type_name);
    copy->body = clone(statement.body);
    copy->otherwise = clone(statement.otherwise);
    return copy;
}

Block clone(const Block& block) {
    Block copy;
    for (const StmtPtr& statement : block) copy.push_back(clone(*statement));
    return copy;
}

void visit_children(Expr& expr, const TreeVisitor& visitor) {
    for (const StmtPtr& statement : expr.body) visitor.statement(*statement);
    for (ExprPtr& operand : expr.operands)
        if (operand) visitor.expr(operand);
    visitor.type(expr.type_name);
}

void visit_children(Stmt& statement, const TreeVisitor& visitor) {
    for (ExprPtr* expr : {&statement.value, &statement.limit, &statement.target})
        if (*expr) visitor.expr(*expr);
    if (statement.type_name) visitor.type(*statement.type_name);
    for (const StmtPtr& inner : statement.body) visitor.statement(*inner);
    for (const StmtPtr& inner : statement.otherwise) visitor.statement(*inner);
}

std::uint32_t height_of(const Block& block) {
    std::uint32_t height = 0;
    for (const StmtPtr& statement : block) height = std::max(height, height_of(*statement));
    return height;
}

std::uint32_t height_of(const Stmt& statement) {
    std::uint32_t height = std::max(height_of(statement.body), height_of(statement.otherwise));
    for (const ExprPtr* expr : {&statement.value, &statement.limit, &statement.target})
        if (*expr) height = std::max(height, (*expr)->height);
    return height + 1;
}

void for_each_expression(ExprPtr& expr, const std::function<void(ExprPtr&)>& visit) {
    TreeVisitor visitor;
    visitor.expr = [&](ExprPtr& inner) { for_each_expression(inner, visit); };
    visitor.statement = [&](Stmt& inner) { visit_children(inner, visitor); };
    visitor.type = [&](TypeName& type) {
        if (type.of) for_each_expression(type.of, visit);
    };
    visit_children(*expr, visitor);
    visit(expr);
}

void for_each_expression(Block& block, const std::function<void(ExprPtr&)>& visit) {
    TreeVisitor visitor;
    visitor.expr = [&](ExprPtr& inner) { for_each_expression(inner, visit); };
    visitor.statement = [&](Stmt& inner) { visit_children(inner, visitor); };
    visitor.type = [&](TypeName& type) {
        if (type.of) for_each_expression(type.of, visit);
    };
    for (const StmtPtr& statement : block) visit_children(*statement, visitor);
}

}  // namespace gpufs::bt
