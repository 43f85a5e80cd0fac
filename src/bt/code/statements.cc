#include "base/align.h"
#include "base/cat.h"
#include "bt/code/probe_code.h"

// Statements.
namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

// What the code of a loop over a map is given: the frame, the context, and whether to leave the
// program afterwards.
constexpr std::size_t kContextAt = 8, kLeaveAt = 16, kLoopBytes = 24;

// "print(@m); clear(@m);" is one thing for the reader: nothing that comes in between is lost.
bool prints_and_clears(const Stmt& stmt, const Stmt& next) {
    const auto map_in = [](const Stmt& one, std::string_view function) -> const Expr* {
        if (one.kind != Stmt::Kind::expression || one.value->kind != Expr::Kind::call ||
            one.value->text != function || one.value->operands.empty())
            return nullptr;
        const Expr& of = *one.value->operands[0];
        return of.kind == Expr::Kind::map && of.operands.empty() ? &of : nullptr;
    };
    const Expr *printed = map_in(stmt, "print"), *cleared = map_in(next, "clear");
    return printed && cleared && printed->text == cleared->text;
}

}  // namespace

void ProbeCode::emit(const Block& block) {
    for (std::size_t i = 0; i < block.size(); ++i) {
        const Stmt* const next = i + 1 < block.size() ? block[i + 1].get() : nullptr;
        if (next && prints_and_clears(*block[i], *next)) {
            emit_print(*block[i]->value, true);
            ++i;
        } else {
            emit(*block[i]);
        }
    }
}

void ProbeCode::emit(const Stmt& stmt) {
    code_.set_source(stmt.at);
    // What a statement allocates in the frame is free after it; variables have their places.
    const std::size_t frame_bytes = frame_bytes_;
    switch (stmt.kind) {
        case Stmt::Kind::expression:
            eval(*stmt.value);
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
        put(value, type, place.bytes.value());
}

void ProbeCode::emit_assign(const Stmt& stmt) {
    if (!stmt.target) {
        eval(*stmt.value);
        return;
    }
    const Expr& target = *stmt.target;
    if (stmt.value->kind == Expr::Kind::call) {
        const FunctionRow* row = find_function(stmt.value->text);
        if (row && row->is_aggregation) return emit_aggregation(target, *stmt.value, *row);
    }
    const bool is_map = target.kind == Expr::Kind::map;
    if (!stmt.operation) {
        if (!is_map) return set_variable(instance_.uses.at(&target), eval(*stmt.value));
        const TypedMap& map = map_of(target);
        const Value value = eval(*stmt.value);
        return update(map, key_of(map, target.operands, 0), value);
    }
    const ir::Operand operand = number(*stmt.value);
    const BinaryOp op = *stmt.operation;
    if (is_map) {
        const TypedMap& map = map_of(target);
        const Local key = key_of(map, target.operands, 0);
        if (op == BinaryOp::add) return add_to(map, key, operand);
        if (op == BinaryOp::sub) return add_to(map, key, code_.negate(operand, ir::kS64));
        const Value before = eval_element(map, key);
        return update(map, key, computed(op, before, operand));
    }
    const std::size_t which = instance_.uses.at(&target);
    set_variable(which, computed(op, eval_variable(which), operand));
}

void ProbeCode::emit_if(const Stmt& stmt) {
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

void ProbeCode::emit_while(const Stmt& stmt) {
    const Loop loop{code_.new_label(), code_.new_label()};
    code_.bind(loop.next);
    unless(*stmt.value, loop.end);
    loops_.push_back(loop);
    emit(stmt.body);
    loops_.pop_back();
    code_.jump(loop.next);
    code_.bind(loop.end);
}

void ProbeCode::emit_unroll(const Stmt& stmt) {
    const std::int64_t times = *constant(*stmt.value);
    for (std::int64_t i = 0; i < times; ++i) emit(stmt.body);
}

// The bounds are taken once; the script cannot change the counter.
void ProbeCode::emit_for_range(const Stmt& stmt) {
    const std::size_t which = instance_.declares.at(&stmt);
    const TypePtr type = instance_.variables[which].type;
    const ir::Temp limit = code_.new_temp(ir::kS64), at = code_.new_temp(ir::kS64);
    code_.assign(at, number(*stmt.value));
    code_.assign(limit, number(*stmt.limit));
    const ir::Label again = code_.new_label();
    const Loop loop{code_.new_label(), code_.new_label()};
    code_.bind(again);
    code_.branch(ir::Cmp::ge, ir::kS64, at, limit, loop.end);
    set_variable(which, number_value(at, type));
    loops_.push_back(loop);
    emit(stmt.body);
    loops_.pop_back();
    code_.bind(loop.next);
    code_.assign(at, code_.compute(ir::Op::add, ir::kS64, at, 1));
    code_.jump(again);
    code_.bind(loop.end);
}

// The body is a function that the kernel calls for each element. Variables are in the frame, which
// it is given.
void ProbeCode::emit_for_map(const Stmt& stmt) {
    const TypedMap& map = map_of(*stmt.target);
    const std::string name = shared_.new_function_name("each");
    const ir::Slot given = code_.new_slot(kLoopBytes);
    if (has_frame_) code_.store({given, 0}, *frame_, ir::kU64);
    code_.store({given, kContextAt}, *context_, ir::kU64);
    code_.store({given, kLeaveAt}, 0, ir::kU64);
    code_.call(BPF_FUNC_for_each_map_elem,
               {map_symbol(map), code_.symbol(Relocation::to(Relocation::Kind::callback, name)),
                code_.address(given), 0});
    code_.branch(ir::Cmp::ne, ir::kU64, code_.load({given, kLeaveAt}, ir::kU64), 0, *out_);
    if (wants_frame_) return;
    OuterCode outer = begin_inner();
    code_.argument(1);
    const ir::Temp key = code_.argument(2), value = code_.argument(3), loop = code_.argument(4);
    context_ = code_.load({loop, kContextAt}, ir::kU64);
    frame_ = code_.load({loop, 0}, ir::kU64);
    const std::size_t which = instance_.declares.at(&stmt);
    const Type& pair = *instance_.variables[which].type;
    for (VariablePlace& place : variables_)
        if (place.bytes) place.bytes->base = *frame_;
    const Local at = variables_[which].bytes.value();
    Value element = load({value, 0}, pair.fields[1].type);
    if (map.value->is_aggregation()) element = aggregated(*map.value, value);
    put(load({key, 0}, map.key), pair.fields[0].type, at);
    put(element, pair.fields[1].type, at.at(pair.fields[1].offset));
    const Loop labels{code_.new_label(), code_.new_label()};
    out_ = code_.new_label();
    loops_.push_back(labels);
    emit(stmt.body);
    loops_.pop_back();
    code_.bind(labels.next);
    code_.leave(0);
    code_.bind(*out_);
    code_.store({loop, kLeaveAt}, 1, ir::kU64);
    code_.bind(labels.end);
    code_.leave(1);
    Subprogram body;
    body.name = name;
    body.code = code_.assemble();
    body.at = stmt.at;
    shared_.program().subprograms.push_back(std::move(body));
    end_inner(std::move(outer));
}

ProbeCode::OuterCode ProbeCode::begin_inner() {
    OuterCode outer{std::move(code_), context_,          frame_,    out_,
                    stack_bytes_,     std::move(loops_), variables_};
    code_ = ir::Code();
    stack_bytes_ = 0;
    loops_.clear();
    return outer;
}

void ProbeCode::end_inner(OuterCode outer) {
    code_ = std::move(outer.code);
    context_ = outer.context;
    frame_ = outer.frame;
    out_ = outer.out;
    stack_bytes_ = outer.stack_bytes;
    loops_ = std::move(outer.loops);
    variables_ = std::move(outer.variables);
}

// A function of its own counts: the kernel says how many elements there are from Linux 6.6 on only.
Value ProbeCode::eval_len(const Expr& expr) {
    const TypedMap& map = map_of(*expr.operands[0]);
    const char* const name = "count_elements";
    if (!shared_.program().find_subprogram(name)) {
        ir::Code count;
        for (unsigned i = 1; i <= 3; ++i) count.argument(i);
        const ir::Temp counter = count.argument(4);
        count.store({counter, 0},
                    count.compute(ir::Op::add, ir::kU64, count.load({counter, 0}, ir::kU64), 1),
                    ir::kU64);
        count.leave(0);
        Subprogram function;
        function.name = name;
        function.code = count.assemble();
        shared_.program().subprograms.push_back(std::move(function));
    }
    const ir::Slot counter = code_.new_slot(kWord);
    code_.store(counter, 0, ir::kU64);
    code_.call(BPF_FUNC_for_each_map_elem,
               {map_symbol(map), code_.symbol(Relocation::to(Relocation::Kind::callback, name)),
                code_.address(counter), 0});
    return number_value(code_.load(counter, ir::kU64), type_of(expr));
}

}  // namespace gpufs::bt
