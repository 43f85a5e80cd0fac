#include "bt/code/predicate_reads.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "bt/syntax/walk.h"
#include "bt/types/functions.h"

namespace gpufs::bt {
namespace {

// The same wherever the probe asks.
bool is_steady(const Expr& key) {
    constexpr std::string_view kSteady[] = {"cgroup", "comm", "cpu",  "gid",  "pid",
                                            "retval", "tid",  "uid",  "arg0", "arg1",
                                            "arg2",   "arg3", "arg4", "arg5"};
    if (key.kind == Expr::Kind::member) {
        const Expr& of = *key.operands[0];
        return of.kind == Expr::Kind::identifier && of.text == "args";
    }
    if (key.kind == Expr::Kind::identifier)
        return std::ranges::find(kSteady, key.text) != std::end(kSteady);
    return key.kind == Expr::Kind::integer || key.kind == Expr::Kind::string;
}

// `a` is steady: others are not kept.
bool is_same_key(const Expr& a, const Expr& b) {
    return is_steady(b) && a.kind == b.kind && a.text == b.text && a.number == b.number;
}

bool is_same_element(const Expr& a, const Expr& b) {
    return a.text == b.text &&
           std::ranges::equal(a.operands, b.operands, [](const ExprPtr& one, const ExprPtr& other) {
               return is_same_key(*one, *other);
           });
}

class Walk {
public:
    Walk(const Probe& probe, std::unordered_map<const Expr*, const Expr*>& first) : first_(first) {
        collect(*probe.predicate, true);
        if (reads_.empty()) return;
        note_writes(*probe.predicate);
        visit(probe.body);
    }

private:
    // What is read whenever the predicate is true. `is_whole`: the predicate, or what "&&" joins.
    void collect(const Expr& expr, bool is_whole) {
        if (expr.kind == Expr::Kind::map) {
            const bool is_steady_key = std::ranges::all_of(
                expr.operands, [](const ExprPtr& key) { return is_steady(*key); });
            if (is_steady_key) reads_.push_back(&expr);
            return;
        }
        const bool is_binary = expr.kind == Expr::Kind::binary;
        const bool is_and = is_binary && expr.binary == BinaryOp::logical_and;
        if (is_binary && (is_and ? !is_whole : expr.binary == BinaryOp::logical_or)) return;
        if (!is_binary && expr.kind != Expr::Kind::unary && expr.kind != Expr::Kind::cast) return;
        for (const ExprPtr& operand : expr.operands) collect(*operand, is_and);
    }

    // What was read of the maps that this writes to may be something else from here on.
    template <class Part>
    void note_writes(const Part& part) {
        const auto note = [this](const Expr& to) {
            if (to.kind == Expr::Kind::map) written_.insert(to.text);
        };
        for_each_expr(part, [&](const Expr& expr) {
            if (expr.kind == Expr::Kind::increment) note(*expr.operands[0]);
            for (const Expr* const map : maps_emptied_by(expr)) note(*map);
        });
        for_each_stmt(part, [&](const Stmt& stmt) {
            if (stmt.kind == Stmt::Kind::assign && stmt.target) note(*stmt.target);
        });
    }

    // Statements one after the other, those of both branches, too. The body of a loop runs again
    // after what it writes, and may be a function of its own.
    void visit(const Block& block) {
        for (const StmtPtr& stmt : block) {
            switch (stmt->kind) {
                case Stmt::Kind::while_:
                case Stmt::Kind::unroll:
                case Stmt::Kind::for_map:
                case Stmt::Kind::for_range:
                    note_writes(*stmt);
                    break;
                default:
                    if (stmt->value) visit(*stmt->value);
                    if (stmt->target) visit_target(*stmt->target);
                    visit(stmt->body);
                    visit(stmt->otherwise);
            }
        }
    }
    void visit(const Expr& expr) {
        note_writes(expr);
        find_reads(expr);
    }
    void visit_target(const Expr& target) {
        for (const ExprPtr& key : target.operands) visit(*key);
        if (target.kind == Expr::Kind::map) written_.insert(target.text);
    }
    // Not in blocks, whose statements may be loops.
    void find_reads(const Expr& expr) {
        if (expr.kind == Expr::Kind::block) return;
        if (expr.kind == Expr::Kind::map && !written_.contains(expr.text)) {
            const auto same = std::ranges::find_if(
                reads_, [&](const Expr* read) { return is_same_element(*read, expr); });
            if (same != reads_.end()) first_[&expr] = *same;
        }
        for (const ExprPtr& operand : expr.operands)
            if (operand) find_reads(*operand);
    }

    std::unordered_map<const Expr*, const Expr*>& first_;
    std::vector<const Expr*> reads_;
    std::set<std::string_view> written_;  // names of maps
};

}  // namespace

PredicateReads::PredicateReads(const Probe& probe) {
    if (probe.predicate) Walk(probe, first_);
}

}  // namespace gpufs::bt
