#pragma once

#include <utility>

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

// Calls visit(stmt) for each statement: of a block, and in the blocks of an expression; the outer
// ones first.
template <class Visit>
void for_each_stmt(const Block& block, Visit&& visit);

template <class Visit>
void for_each_stmt(const Expr& expr, Visit&& visit) {
    for (const ExprPtr& operand : expr.operands)
        if (operand) for_each_stmt(*operand, visit);
    for_each_stmt(expr.body, visit);
}

template <class Visit>
void for_each_stmt(const Stmt& stmt, Visit&& visit) {
    visit(stmt);
    for (const ExprPtr* part : {&stmt.target, &stmt.value, &stmt.limit})
        if (*part) for_each_stmt(**part, visit);
    for_each_stmt(stmt.body, visit);
    for_each_stmt(stmt.otherwise, visit);
}

template <class Visit>
void for_each_stmt(const Block& block, Visit&& visit) {
    for (const StmtPtr& stmt : block) for_each_stmt(*stmt, visit);
}

// Calls visit(stmt, is_inside) and visit(expr, is_inside) for all of a probe, the outer ones first;
// is_inside: in the body of a loop of which is_meant(stmt) says so.
template <class IsMeant, class Visit>
class InsideOfLoops {
public:
    InsideOfLoops(IsMeant is_meant, Visit visit)
        : is_meant_(std::move(is_meant)), visit_(std::move(visit)) {}

    void walk(const Probe& probe) {
        if (probe.predicate) walk(*probe.predicate, false);
        walk(probe.body, false);
    }

private:
    void walk(const Block& block, bool is_inside) {
        for (const StmtPtr& stmt : block) walk(*stmt, is_inside);
    }
    void walk(const Stmt& stmt, bool is_inside) {
        const bool is_meant = is_meant_(stmt);
        visit_(stmt, is_inside || is_meant);
        for (const ExprPtr* part : {&stmt.target, &stmt.value, &stmt.limit})
            if (*part) walk(**part, is_inside);
        walk(stmt.body, is_inside || is_meant);
        walk(stmt.otherwise, is_inside);
    }
    void walk(const Expr& expr, bool is_inside) {
        visit_(expr, is_inside);
        for (const ExprPtr& operand : expr.operands)
            if (operand) walk(*operand, is_inside);
        walk(expr.body, is_inside);
    }

    IsMeant is_meant_;
    Visit visit_;
};

}  // namespace gpufs::bt
