#include <algorithm>

#include "base/align.h"
#include "bt/code/probe_code.h"

// Loops. The body of a loop over a map is a function, which the kernel calls for each element; so
// is that of a loop over a range whose length is not known or large, where the kernel has
// bpf_loop() (Linux 5.17): the verifier would go through all turns of a loop in the code. Variables
// that such a function uses are in the frame, which it is given.
namespace gpufs::bt {

struct ProbeCode::LoopCall {
    std::string function;
    ir::Slot given;  // what it is given
};

struct ProbeCode::OuterCode {
    ir::Code code;
    std::optional<ir::Temp> context, frame;
    std::optional<ir::Label> out, end;
    std::size_t stack_bytes;
    std::vector<Loop> loops;
    std::vector<VariablePlace> variables;
};

namespace {

using Kind = Type::Kind;

// What the body of a loop is given: the frame, the context, whether to leave the program
// afterwards, and where a range begins.
constexpr std::size_t kContextAt = 8, kLeaveAt = 16, kBeginAt = 24, kLoopBytes = 32;
constexpr std::uint64_t kMostTurns = 1 << 23;  // BPF_MAX_LOOPS of include/linux/bpf.h
constexpr std::int64_t kMostTurnsInCode = 128;

}  // namespace

bool ProbeCode::is_called(const Stmt& stmt) const {
    if (stmt.kind == Stmt::Kind::for_map) return true;
    if (stmt.kind != Stmt::Kind::for_range || !has_callbacks_) return false;
    const auto first = constant(*stmt.value), limit = constant(*stmt.limit);
    return !first || !limit || *first < *limit - kMostTurnsInCode;
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
    if (is_called(stmt)) return emit_called_range(stmt);
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

void ProbeCode::emit_called_range(const Stmt& stmt) {
    has_called_range_ = true;
    const ir::Temp first = code_.new_temp(ir::kS64), turns = code_.new_temp(ir::kU64);
    code_.assign(first, number(*stmt.value));
    const ir::Operand limit = number(*stmt.limit);
    const ir::Label is_empty = code_.new_label(), is_small = code_.new_label();
    code_.branch(ir::Cmp::ge, ir::kS64, first, limit, is_empty);
    code_.assign(turns, code_.compute(ir::Op::sub, ir::kU64, limit, first));
    code_.branch(ir::Cmp::le, ir::kU64, turns, kMostTurns, is_small);
    code_.assign(turns, kMostTurns);
    code_.bind(is_small);
    const LoopCall loop = begin_loop();
    code_.store({loop.given, kBeginAt}, first, ir::kU64);
    code_.call(BPF_FUNC_loop,
               {turns, code_.symbol(Relocation::to(Relocation::Kind::callback, loop.function)),
                code_.address(loop.given), 0});
    leave_if_told(loop);
    code_.bind(is_empty);
    if (wants_frame_) return;
    OuterCode outer = begin_inner();
    const ir::Temp turn = code_.argument(1), given = code_.argument(2);
    enter_body(given);
    const std::size_t which = instance_.declares.at(&stmt);
    set_variable(which, number_value(code_.compute(ir::Op::add, ir::kS64,
                                                   code_.load({given, kBeginAt}, ir::kS64), turn),
                                     instance_.variables[which].type));
    emit_body(stmt, loop, given);
    end_inner(std::move(outer));
}

void ProbeCode::emit_for_map(const Stmt& stmt) {
    const TypedMap& map = map_of(*stmt.target);
    const LoopCall loop = begin_loop();
    code_.call(
        BPF_FUNC_for_each_map_elem,
        {map_symbol(map), code_.symbol(Relocation::to(Relocation::Kind::callback, loop.function)),
         code_.address(loop.given), 0});
    leave_if_told(loop);
    if (wants_frame_) return;
    OuterCode outer = begin_inner();
    code_.argument(1);
    const ir::Temp key = code_.argument(2), value = code_.argument(3), given = code_.argument(4);
    enter_body(given);
    const std::size_t which = instance_.declares.at(&stmt);
    const Type& pair = *instance_.variables[which].type;
    const Local at = *variables_[which].bytes;
    Value element = load({value, 0}, map.value);
    if (map.value->is_aggregation()) element = aggregated(*map.value, value);
    put(load({key, 0}, map.key), pair.fields[0].type, at);
    put(element, pair.fields[1].type, at.at(pair.fields[1].offset));
    emit_body(stmt, loop, given);
    end_inner(std::move(outer));
}

// What the body did: 1, return; 2, exit().
void ProbeCode::leave_if_told(const LoopCall& loop) {
    const ir::Temp told = code_.load({loop.given, kLeaveAt}, ir::kU64);
    if (functions_ > 0) code_.branch(ir::Cmp::eq, ir::kU64, told, 2, *end_);
    code_.branch(ir::Cmp::ne, ir::kU64, told, 0, *out_);
}

ProbeCode::LoopCall ProbeCode::begin_loop() {
    LoopCall loop{shared_.new_function_name("each"), code_.new_slot(kLoopBytes)};
    if (has_frame_) code_.store({loop.given, 0}, *frame_, ir::kU64);
    code_.store({loop.given, kContextAt}, *context_, ir::kU64);
    code_.store({loop.given, kLeaveAt}, 0, ir::kU64);
    return loop;
}

void ProbeCode::enter_body(ir::Temp given) {
    context_ = code_.load({given, kContextAt}, ir::kU64);
    frame_ = code_.load({given, 0}, ir::kU64);
    for (VariablePlace& place : variables_)
        if (place.bytes) place.bytes->base = *frame_;
}

void ProbeCode::emit_body(const Stmt& stmt, const LoopCall& loop, ir::Temp given) {
    const Loop labels{code_.new_label(), code_.new_label()};
    out_ = code_.new_label();
    end_ = functions_ > 0 ? code_.new_label() : *out_;
    loops_.push_back(labels);
    emit(stmt.body);
    loops_.pop_back();
    code_.bind(labels.next);
    code_.leave(0);
    if (functions_ > 0) {
        code_.bind(*end_);
        code_.store({given, kLeaveAt}, 2, ir::kU64);
        code_.leave(1);
    }
    code_.bind(*out_);
    code_.store({given, kLeaveAt}, 1, ir::kU64);
    code_.bind(labels.end);
    code_.leave(1);
    Subprogram body;
    body.name = loop.function;
    body.code = code_.assemble();
    body.at = stmt.at;
    shared_.program().subprograms.push_back(std::move(body));
}

ProbeCode::OuterCode ProbeCode::begin_inner() {
    OuterCode outer{std::move(code_), context_,          frame_,    out_, end_,
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
    end_ = outer.end;
    stack_bytes_ = outer.stack_bytes;
    loops_ = std::move(outer.loops);
    variables_ = std::move(outer.variables);
}

}  // namespace gpufs::bt
