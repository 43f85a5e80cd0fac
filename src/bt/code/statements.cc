#include <set>

#include "base/align.h"
#include "base/cat.h"
#include "bt/code/output.h"
#include "bt/syntax/walk.h"
#include "bt/types/functions.h"

// Statements.
namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

// The map in "print(@m)" or "clear(@m)"; null for other statements.
const Expr* map_in(const Stmt& one, std::string_view function) {
    if (one.kind != Stmt::Kind::expression || one.value->kind != Expr::Kind::call ||
        one.value->text != function || one.value->operands.empty())
        return nullptr;
    const Expr& of = *one.value->operands[0];
    return of.kind == Expr::Kind::map && of.operands.empty() ? &of : nullptr;
}

bool uses_map(const Stmt& stmt, const std::string& name) {
    bool uses = false;
    for_each_expr(stmt, [&](const Expr& expr) {
        uses = uses || (expr.kind == Expr::Kind::map && expr.text == name);
    });
    return uses;
}

// A script may end here, or does something else than to call a function of the language.
bool may_end(const Stmt& stmt) {
    bool ends = stmt.kind != Stmt::Kind::expression;
    for_each_expr(stmt, [&](const Expr& expr) {
        const FunctionRow* const row =
            expr.kind == Expr::Kind::call ? find_function(expr.text) : nullptr;
        ends = ends || !expr.body.empty() ||
               (expr.kind == Expr::Kind::call && (!row || row->function == Fn::exit));
    });
    return ends;
}

// "print(@m); print(@n); clear(@m);" prints and clears @m at once: nothing that comes in between is
// lost. Returns the statement behind `at` that clears what `at` prints, if what is between does not
// use it: the block's end if there is none.
std::size_t find_clear(const Block& block, std::size_t at) {
    const Expr* const printed = map_in(*block[at], "print");
    if (!printed) return block.size();
    for (std::size_t i = at + 1; i < block.size(); ++i) {
        const Expr* const cleared = map_in(*block[i], "clear");
        if (cleared && cleared->text == printed->text) return i;
        if (may_end(*block[i]) || uses_map(*block[i], printed->text)) break;
    }
    return block.size();
}

}  // namespace

// An expression whose value nobody asks for.
void ProbeCode::emit_expression(const Expr& expr) {
    if (expr.kind != Expr::Kind::increment || expr.operands[0]->kind != Expr::Kind::map) {
        eval(expr);
        return;
    }
    const Expr& target = *expr.operands[0];
    const TypedMap& map = map_of(target);
    add_to(map, key_of(map, target.operands, 0), step_of(expr, *type_of(expr), shared_.table()));
}

void ProbeCode::emit(const Block& block) {
    std::set<std::size_t> done;
    for (std::size_t i = 0; i < block.size(); ++i) {
        if (done.contains(i)) continue;
        const std::size_t clear = find_clear(block, i);
        if (clear == block.size()) {
            emit(*block[i]);
            continue;
        }
        code_.set_source(block[i]->at);
        Output(*this, *block[i]->value).print(true);
        done.insert(clear);
    }
}

void ProbeCode::emit(const Stmt& stmt) {
    code_.set_source(stmt.at);
    // What a statement allocates in the frame is free after it; variables have their places.
    const std::size_t frame_bytes = frame_bytes_;
    switch (stmt.kind) {
        case Stmt::Kind::expression:
            emit_expression(*stmt.value);
            break;
        case Stmt::Kind::assign:
            emit_assign(stmt);
            break;
        case Stmt::Kind::declare:
            if (stmt.value) set_variable(instance_.declares.at(&stmt), eval(*stmt.value));
            break;
        case Stmt::Kind::if_:
            emit_if(stmt);
            break;
        case Stmt::Kind::while_:
            emit_while(stmt);
            break;
        case Stmt::Kind::unroll:
            emit_unroll(stmt);
            break;
        case Stmt::Kind::for_map:
            emit_for_map(stmt);
            break;
        case Stmt::Kind::for_range:
            emit_for_range(stmt);
            break;
        case Stmt::Kind::break_:
            code_.jump(loops_.back().end);
            break;
        case Stmt::Kind::continue_:
            code_.jump(loops_.back().next);
            break;
        case Stmt::Kind::return_:
            if (stmt.value) eval(*stmt.value);
            code_.jump(*out_);
            break;
        case Stmt::Kind::block:
            emit(stmt.body);
            break;
    }
    frame_bytes_ = frame_bytes;
}

void ProbeCode::set_variable(std::size_t which, const Value& value) {
    const VariablePlace& place = variables_[which];
    const TypePtr& type = instance_.variables[which].type;
    if (place.number)
        code_.assign(*place.number, number(value));
    else
        put(value, type, place.bytes.value(), TextEnd::roomy);
}

void ProbeCode::emit_assign(const Stmt& stmt) {
    if (!stmt.target) {
        eval(*stmt.value);
        return;
    }
    const Expr& target = *stmt.target;
    if (const Expr* const call = aggregation_in(*stmt.value)) {
        for (const Expr* block = stmt.value.get(); block != call; block = block->operands[0].get())
            emit(block->body);
        return emit_aggregation(target, *call, *find_function(call->text));
    }
    const bool is_map = target.kind == Expr::Kind::map;
    if (!stmt.operation) {
        if (!is_map) return set_variable(instance_.uses.at(&target), eval(*stmt.value));
        const TypedMap& map = map_of(target);
        const Value value = kept(eval(*stmt.value), target.operands);
        return update(map, key_of(map, target.operands, 0), value);
    }
    const BinaryOp op = *stmt.operation;
    std::optional<Value> variable;
    if (!is_map) variable = kept(eval_variable(instance_.uses.at(&target)), {&stmt.value, 1});
    ir::Operand operand = number(kept(eval(*stmt.value), target.operands));
    if (const std::size_t stride = stride_of(*type_of(target), shared_.table()); stride != 1)
        operand = code_.compute(ir::Op::mul, ir::kU64, operand, stride);
    if (is_map) {
        const TypedMap& map = map_of(target);
        const Key key = key_of(map, target.operands, 0);
        if (op == BinaryOp::add) return add_to(map, key, operand);
        if (op == BinaryOp::sub) return add_to(map, key, code_.negate(operand, ir::kS64));
        const Value before = eval_element(map, key);
        return update(map, key, computed(op, before, operand, *stmt.value));
    }
    set_variable(instance_.uses.at(&target), computed(op, *variable, operand, *stmt.value));
}

void ProbeCode::emit_if(const Stmt& stmt) {
    if (stmt.value->is_comptime)
        return emit(*constant(*stmt.value) != 0 ? stmt.body : stmt.otherwise);
    const ir::Label otherwise = code_.new_label();
    unless(*stmt.value, otherwise);
    emit(stmt.body);
    if (stmt.otherwise.empty()) return code_.bind(otherwise);
    const ir::Label done = code_.new_label();
    code_.jump(done);
    code_.bind(otherwise);
    emit(stmt.otherwise);
    code_.bind(done);
}

}  // namespace gpufs::bt
