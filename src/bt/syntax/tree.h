#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "bt/syntax/ast.h"

namespace gpufs::bt {

// "+", "!"
const char* sign_of(BinaryOp op);
const char* sign_of(UnaryOp op);
// The operation of "+=". Absent for "=" and what assigns nothing.
std::optional<BinaryOp> operation_of_assignment(std::string_view sign);

ExprPtr clone(const Expr& expr);
StmtPtr clone(const Stmt& statement);
TypeName clone(const TypeName& type);
Block clone(const Block& block);

// What is directly below: operands (never null), the expression of a type, statements of a block.
struct TreeVisitor {
    std::function<void(ExprPtr&)> expr;
    std::function<void(Stmt&)> statement;
    std::function<void(TypeName&)> type;
};
void visit_children(Expr& expr, const TreeVisitor& visitor);
void visit_children(Stmt& statement, const TreeVisitor& visitor);

// The levels of a tree below a statement, with it.
std::uint32_t height_of(const Stmt& statement);
std::uint32_t height_of(const Block& block);

// Calls `visit` for each expression below, operands before what is made of them.
void for_each_expression(Block& block, const std::function<void(ExprPtr&)>& visit);
void for_each_expression(ExprPtr& expr, const std::function<void(ExprPtr&)>& visit);

}  // namespace gpufs::bt
