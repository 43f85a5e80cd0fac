#pragma once

#include "bt/syntax/ast.h"

namespace gpufs::bt {

// Calls visit(expr) for each expression in it, the outer ones first.
template <class Visit>
void for_each_expr(const Block& block, Visit&& visit);

template <class Visit>
void for_each_expr(const Expr& expr, Visit&& visit) {
    visit(expr);
    for (const ExprPtr& operand : expr.operands)
        if (operand) for_each_expr(*operand, visit);
    if (expr.type_name.of) for_each_expr(*expr.type_name.of, visit);
    for_each_expr(expr.body, visit);
}

template <class Visit>
void for_each_expr(const Stmt& stmt, Visit&& visit) {
    for (const ExprPtr* part : {&stmt.target, &stmt.value, &stmt.limit})
        if (*part) for_each_expr(**part, visit);
    for_each_expr(stmt.body, visit);
    for_each_expr(stmt.otherwise, visit);
}

template <class Visit>
void for_each_expr(const Block& block, Visit&& visit) {
    for (const StmtPtr& stmt : block) for_each_expr(*stmt, visit);
}

template <class Visit>
void for_each_expr(const Probe& probe, Visit&& visit) {
    if (probe.predicate) for_each_expr(*probe.predicate, visit);
    for_each_expr(probe.body, visit);
}

}  // namespace gpufs::bt
